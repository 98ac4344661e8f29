"""Every exercise: as released it is not written yet; its check declares what its probe returns."""

from typing import Any

import pytest

from tests.bank import BANK, Answer
from tests.checks.bank_verdicts import verdict
from tests.lessons.lesson import LESSONS, read, solved

EXERCISES = [
    pytest.param(lesson, check, id=f"{lesson.name}-{check}")
    for lesson in LESSONS
    for check in lesson.checks()
]


@pytest.mark.parametrize(("lesson", "check"), EXERCISES)
def test_unsolved_exercise_is_not_written_yet(lesson, check):
    stub = solved(read(lesson.release))[f"{check}_answer"].source
    said = verdict(Answer(BANK / lesson.module_name / f"{check}.md", "as_released", stub, {}))
    assert said.mistake == "not_written_yet", said


@pytest.mark.parametrize(("lesson", "check"), EXERCISES)
def test_probe_declares_the_type_of_its_evidence(lesson, check):
    assert lesson.checks()[check].evidence_type is not Any

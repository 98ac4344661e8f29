"""Every exercise: as released it is not written yet; its check declares what its probe returns."""

from typing import Any

import pytest

from grading.answers.bank import BANK, Answer
from grading.answers.verdicts import verdict
from tests.lessons.lesson import LESSONS, OPTIONAL, read, solved

EXERCISES = [
    pytest.param(lesson, check, id=f"{lesson.name}-{check}")
    for lesson in LESSONS
    for check in lesson.checks()
]


@pytest.mark.parametrize(("lesson", "check"), EXERCISES)
def test_unsolved_exercise_is_not_written_yet(lesson, check):
    [stub] = [
        cells[f"{check}_answer"].source
        for cells in (solved(read(one.release)) for one in (lesson, *OPTIONAL))
        if f"{check}_answer" in cells
    ]
    said = verdict(Answer(BANK / lesson.module_name / f"{check}.md", "as_released", stub, {}))
    assert said.mistake == "not_written_yet", said


@pytest.mark.parametrize(("lesson", "check"), EXERCISES)
def test_probe_declares_the_type_of_its_evidence(lesson, check):
    assert lesson.checks()[check].evidence_type is not Any

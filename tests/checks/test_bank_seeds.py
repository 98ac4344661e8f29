"""The verdict on each answer of the bank is the same whatever inputs are drawn."""

import functools
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from course_utils.checks.core.check import Check
from tests.bank import Answer, answers
from tests.checks import bank_verdicts
from tests.lessons.lesson import LESSONS

pytestmark = pytest.mark.proof

SEEDS = 200
# Checks that start processes or read large inputs take longer.
FEWER = {
    "broken_images": 10,
    "cold_and_warm": 10,
    "handle_per_process": 3,
    "json_labels": 20,
    "million_labels": 2,
    "operations_budget": 5,
    "predicted_throughput": 10,
    "prefetcher": 20,
    "repair_tar": 10,
    "reproducible_loader": 2,
    "stored_zip": 40,
    "survives_spawn": 10,
}
BANK = [answer for lesson in LESSONS for answer in answers(lesson.module_name)]


@pytest.fixture(scope="module", autouse=True)
def files_in_memory(tmp_path_factory):
    """Checks lay out many small files; where there is a folder in memory, they go there."""
    with pytest.MonkeyPatch.context() as patch:
        if Path("/dev/shm").is_dir():
            patch.setattr(tempfile, "tempdir", "/dev/shm")
        yield


@functools.cache
def draw_once(check: Check) -> Check:
    """Return a check that draws its inputs once for each seed; encoding keeps them as they are."""
    drawn = functools.cache(lambda state: check.make(np.random.default_rng(state)))
    return replace(check, make=lambda rng: drawn(rng.bit_generator.seed_seq.entropy))


@pytest.mark.parametrize("answer", BANK, ids=str)
def test_verdict_does_not_depend_on_the_inputs(answer: Answer, monkeypatch):
    [lesson] = [lesson for lesson in LESSONS if lesson.module_name == answer.lesson]
    check = draw_once(lesson.checks()[answer.check])
    monkeypatch.setattr(type(lesson), "checks", lambda lesson: {answer.check: check})
    bank_verdicts.assert_verdict(answer, range(FEWER.get(answer.check, SEEDS)))

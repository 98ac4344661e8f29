"""The verdict on each answer of the bank is the same whatever inputs are drawn.

`make proofs` tries a few draws. Whoever changes what a check draws tries 200, in an hour:

    make proofs SEEDS=200 TESTS=tests/checks/test_bank_seeds.py
"""

import functools
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_utils.checks import core
from course_utils.checks.core import environment, images
from course_utils.checks.core.check import Check
from grading.answers.bank import Answer, answers
from grading.answers.verdicts import Verdict, verdict
from tests.checks.bank_verdicts import skip_if_command_missing
from tests.lessons.lesson import LESSONS
from tests.whole import one_in

pytestmark = pytest.mark.proof

SEEDS = 20
# Of checks that start processes, as many as there is time for; of right answers, which are accepted only when
# everything was looked at, a few.
FEWER = {
    "broken_images": 4,
    "choose_format": 10,
    "cold_and_warm": 4,
    "evaluation_sampler": 6,
    "fetch_ranges": 3,
    "handle_per_process": 1,
    "json_labels": 4,
    "mend_train": 1,
    "million_labels": 1,
    "mixture": 2,
    "operations_budget": 1,
    "pack_documents": 3,
    "plan": 6,
    "prefetcher": 10,
    "repair_tar": 1,
    "reproducible_loader": 2,
    "resume": 2,
    "shuffle_buffer": 4,
    "stage": 1,
    "stored_zip": 10,
    "survives_spawn": 2,
    "token_blocks": 2,
    "write_shards": 1,
}
RIGHT = 2
# Keeping their inputs would make each fork, which copies the page tables, take longer than a draw.
LARGE = {"million_labels"}
# What is refused without workers, or with fewer labels, is refused with more: the judge then sees more.
# The full check judges what the smaller one accepts, or refuses for another mistake.
SMALLER: dict[str, dict[str, Any]] = {
    "broken_images": {"workers": False},
    "cold_and_warm": {"workers": False},
    "json_labels": {"padding": 0},
    "million_labels": {"count": 100_000},
    "reproducible_loader": {"workers": False},
}
BANK = [answer for lesson in LESSONS for answer in answers(lesson.module_name)]
# A single draw repeats what `make test` judges: of such answers, a few.
GIVEN = [
    *one_in(1, [answer for answer in BANK if FEWER.get(answer.check) != 1]),
    *one_in(6, [answer for answer in BANK if FEWER.get(answer.check) == 1]),
]


@pytest.fixture(scope="module", autouse=True)
def cheaper_checks(tmp_path_factory) -> Iterator[None]:
    """Files lie in memory where there is a folder for it; no image is decoded twice by the judge."""
    with pytest.MonkeyPatch.context() as patch:
        if Path("/dev/shm").is_dir():
            for module in (tempfile, environment.tempfile):
                patch.setattr(module, "tempdir", "/dev/shm")
        decode = functools.lru_cache(1000)(images.decode_rgb)
        patch.setattr(images, "decode_rgb", decode)
        patch.setattr(core, "decode_rgb", decode)
        # torch keeps the stack of each `manual_seed` until a device is initialised, which takes 1 ms.
        patch.setattr(traceback, "format_stack", lambda *_: [])
        yield


@functools.lru_cache(2)  # only those of the exercise at hand: what a process holds is copied by each fork
def draw_once(check: Check, **smaller: Any) -> Check:
    """Return a check that draws its inputs once for each seed; encoding keeps them as they are."""
    drawn = functools.cache(lambda state: check.make(np.random.default_rng(state), **smaller))
    return replace(check, make=lambda rng: drawn(rng.bit_generator.seed_seq.entropy))


def draw_again(check: Check, **smaller: Any) -> Check:
    """Return a check that draws its inputs at each call."""
    return replace(check, make=functools.partial(check.make, **smaller))


def verdict_for(answer: Answer, seed: int) -> Verdict:
    [lesson] = [lesson for lesson in LESSONS if lesson.module_name == answer.lesson]
    check = lesson.checks()[answer.check]
    drawn = draw_again if answer.check in LARGE else draw_once
    if answer.mistake and answer.check in SMALLER:
        found = verdict(answer, seed, drawn(check, **SMALLER[answer.check]))
        if found.mistake == answer.mistake:
            return found
    return verdict(answer, seed, drawn(check))


@pytest.mark.parametrize("answer", GIVEN)
def test_verdict_does_not_depend_on_the_inputs(answer: Answer, request: pytest.FixtureRequest):
    skip_if_command_missing(answer)
    seeds = request.config.getoption("--seeds") or FEWER.get(answer.check, SEEDS)
    found = [verdict_for(answer, seed) for seed in range(seeds if answer.mistake else min(seeds, RIGHT))]
    assert {one.mistake for one in found} == {answer.mistake}, found
    assert answer.mistake or len({one.message for one in found}) == 1, found

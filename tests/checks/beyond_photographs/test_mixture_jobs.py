"""The judge of `mixture` with jobs on any numbers of ranks that end anywhere."""

import importlib
import itertools
import random
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.checks.beyond_photographs._mixture.jobs import Job
from course_utils.checks.core import Mistake
from grading.answers.bank import answer

check = importlib.import_module("course_utils.checks.beyond_photographs.mixture")  # its room has this name


def solution(name: str) -> Any:
    names: dict[str, Any] = {"np": np, "itertools": itertools, "random": random, "torch": torch}
    exec(answer("beyond_photographs", "mixture", name).source, names)
    return names["Mixture"]


@st.composite
def jobs(draw: st.DrawFn) -> list[Job]:
    """Three jobs, of which the first two end somewhere in an order of the small source, or between two."""
    made: list[Job] = []
    start = 0
    for _ in range(3):
        ranks, taken = draw(st.integers(1, 6)), draw(st.integers(0, 50))
        ahead = draw(st.lists(st.integers(1, 4), min_size=ranks, max_size=ranks))
        saved_by = draw(st.integers(0, ranks - 1))
        made.append({"ranks": ranks, "taken": taken, "ahead": ahead, "saved_by": saved_by, "start": start})
        start += ranks * taken
    return made


def judged(name: str, seed: int, data: st.DataObject) -> str:
    inputs, truth = check.make(np.random.default_rng(seed))
    for training in inputs["trainings"]:
        training["jobs"] = data.draw(jobs())
    return check.judge(truth, check.probe(inputs, solution(name)))


@pytest.mark.parametrize("name", ["right_weights_drawn_at_random", "right_snapshots_of_what_was_yielded"])
@settings(max_examples=6)
@given(seed=st.integers(0, 100), data=st.data())
def test_right_answer_passes_with_any_jobs(name, seed, data):
    assert judged(name, seed, data)


@settings(max_examples=6)
@given(seed=st.integers(0, 100), data=st.data())
def test_one_sample_too_many_never_passes(seed, data):
    with pytest.raises(Mistake):
        judged("wrong_one_sample_too_many", seed, data)


def test_records_that_are_missing_are_no_evidence():
    inputs, truth = check.make(np.random.default_rng(0))
    found = check.probe(inputs, solution("right_weights_drawn_at_random"))
    found["jobs"]["value"][1].pop()
    with pytest.raises(Mistake, match="could not run all jobs"):
        check.judge(truth, found)

"""The judge of `resume` with jobs of any number of ranks that end anywhere."""

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.checks.core import Mistake
from course_utils.checks.many_nodes._steps import Job, Training
from grading.answers.bank import answer

check = importlib.import_module("course_utils.checks.many_nodes.resume")  # its room has a check of this name


def solution(name: str) -> Any:
    names: dict[str, Any] = {"np": np}
    exec(answer("many_nodes", "resume", name).source, names)
    return names["resume"]


@st.composite
def epochs(draw: st.DrawFn, training: Training) -> list[Job]:
    """Jobs that run two epochs to their ends; at least one of them is resumed on another number of ranks."""
    samples, size = training["first"]["samples"], training["first"]["batch_size"]
    jobs: list[Job] = []
    for _ in range(2):
        left, steps = samples, 1
        while steps:
            ranks = draw(st.integers(1, 5).filter(lambda n: not jobs or n != jobs[-1]["ranks"]))
            whole = -(-left // (ranks * size))
            steps = draw(st.integers(min(1, whole - 1), whole - 1)) if left == samples else 0
            steps = steps or draw(st.integers(0, whole - 1))
            ahead = draw(st.lists(st.integers(0, 3), min_size=ranks, max_size=ranks))
            saved_by = draw(st.integers(0, ranks - 1))
            jobs.append({"ranks": ranks, "steps": steps, "ahead": ahead, "saved_by": saved_by})
            left -= steps * ranks * size
    return jobs


def judged(name: str, seed: int, data: st.DataObject) -> str:
    inputs, truth = check.make(np.random.default_rng(seed))
    for number in (check.RESUMED, check.OTHER_RESUMED):
        training = inputs["trainings"][number]
        training["jobs"] = data.draw(epochs(training))
    return check.judge(truth, check.probe(inputs, solution(name)))


@settings(max_examples=6)
@given(seed=st.integers(0, 100), data=st.data())
def test_right_answer_passes_with_any_jobs(seed, data):
    assert judged("right_slices", seed, data)


@settings(max_examples=4)
@given(seed=st.integers(0, 100), data=st.data())
def test_steps_for_samples_never_pass(seed, data):
    with pytest.raises(Mistake):
        judged("wrong_counts_steps", seed, data)

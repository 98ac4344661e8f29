"""Check a function that names what a training suffers from, from what a diagnosis has measured."""

import copy
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, type_name
from course_utils.checks.your_training._measured import Measured
from course_utils.checks.your_training._patients import HEALTHY, NAMES, RESULTS, Case, draw_cases


class Answer(TypedDict):
    """The name that was returned, or the type of what is no string."""

    name: str
    kind: str


class Found(TypedDict):
    """The answer for each training in the order in which they were asked."""

    named: list[Answer]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw trainings, and an order to ask for them in: each is asked for twice."""
    cases = draw_cases(rng)
    order = np.concatenate([rng.permutation(len(cases)), rng.permutation(len(cases))]).tolist()
    return {"asked": [cases[n]["measured"] for n in order]}, {"cases": cases, "order": order}


def probe(inputs: Inputs, name_illness: Callable[..., Any]) -> Found:
    """Let the student name the illness of each training, from a copy of its evidence."""
    return {"named": [_answer(name_illness(copy.deepcopy(measured))) for measured in inputs["asked"]]}


def _answer(named: object) -> Answer:
    return {"name": named, "kind": ""} if isinstance(named, str) else {"name": "", "kind": type_name(named)}


def judge(truth: Truth, found: Evidence) -> str:
    """Compare each name with the cause that was drawn; what is wrong about a healthy training comes first."""
    names: list[list[str]] = [[] for _ in truth["cases"]]
    for number, answer in zip(truth["order"], found["named"], strict=True):
        _expect_a_name(answer)
        names[number].append(answer["name"])
    if any(first != second for first, second in names):
        raise Mistake(
            "keeps_state",
            "Asked twice about the same training, you name two things. Use nothing but the argument.",
        )
    for case, (name, _) in zip(truth["cases"], names, strict=True):
        if name != case["cause"]:
            raise _mistake(case, name)
    return (
        f"You name the illness of {len(names)} trainings, of those with two illnesses the one that matters "
        "more, and leave the healthy ones alone."
    )


def _expect_a_name(answer: Answer) -> None:
    if answer["kind"]:
        raise Mistake(
            "not_a_name", f"You return a value of type {answer['kind']} for a training. Return one name."
        )
    if answer["name"] not in NAMES:
        raise Mistake(
            "unknown_name", f"You return {answer['name'][:50]!r}. The names are {', '.join(NAMES)}."
        )


def _mistake(case: Case, name: str) -> Mistake:
    """Return the mistake of naming `name`, which is not the cause."""
    cause, measured = case["cause"], case["measured"]
    if name == HEALTHY:
        return Mistake("misses_illness", f"You say healthy, but {_evidence(cause, measured)}.")
    if name in RESULTS and cause not in RESULTS:
        return _false_alarm(name, measured)
    if cause == HEALTHY:
        return _slow_alarm(name, measured)
    if name in RESULTS:
        return Mistake("other_result", f"You name {name}, but {_evidence(cause, measured)}.")
    if cause in RESULTS:
        return Mistake(
            "speed_before_results",
            f"You name {name}, but {_evidence(cause, measured)}: results are wrong. A fast training that is "
            "wrong helps nobody; this comes first.",
        )
    if cause == "no_workers":
        return Mistake(
            "no_workers_later",
            f"You name {name} where workers is 0. The main process loads between the steps, whatever it does "
            "meanwhile: of several causes, return the first of the table.",
        )
    return Mistake(
        "symptom_for_cause",
        f"You name {name}, but {_evidence(cause, measured)}. What takes little of the time for a batch is no "
        "cause, however bad the number looks beside it.",
    )


def _false_alarm(name: str, measured: Measured) -> Mistake:
    if name == "iterable_repeated":
        return Mistake(
            "alarm_dropped_batch",
            f"You name {name} where an epoch reads {measured['read'][0]} of {measured['samples']} samples. "
            "None is read twice; fewer is a last batch that is dropped in training, on purpose.",
        )
    where = "orders" if name == "epoch_not_set" else "states"
    return Mistake(
        "alarm_validation",
        f"You name {name}, but `{where}` of training differ everywhere. Those of validation repeat, so that "
        "its epochs can be compared: look at training alone.",
    )


def _slow_alarm(name: str, measured: Measured) -> Mistake:
    first, *later = measured["waiting"]
    if first > max(later):
        waits = f"{first:.0%} of the first epoch and at most {max(later):.0%} of those after it"
        if first > 0.3:
            return Mistake(
                "alarm_cold_first_epoch",
                f"You name {name} where the loop waits {waits}. The first epoch read cold files; the others "
                "show what the training does.",
            )
    return Mistake(
        "alarm_computes",
        f"You name {name} where the loop waits at most {max(measured['waiting']):.0%} of an epoch. The "
        "batches are there when they are needed: the network is what takes long.",
    )


def _evidence(cause: str, measured: Measured) -> str:
    """Return what shows a cause, as half a sentence."""
    load = measured["load_ms"]
    parts = ", ".join(f"{part} {ms:.0f}" for part, ms in load.items())
    waits = f"the last epoch waits {measured['waiting'][-1]:.0%} of its time"
    return {
        "epoch_not_set": f"the orders of training are {' '.join(measured['orders']['train'])}",
        "iterable_repeated": f"an epoch reads {measured['read'][0]} samples of {measured['samples']}",
        "repeated_random_numbers": (
            "the states of training (a line a worker) are "
            + " / ".join(map(" ".join, measured["states"]["train"]))
        ),
        "no_workers": f"{waits}, and workers is 0",
    }.get(cause, f"{waits}, and load_ms is {parts}")

"""Exercise of lesson 06: what each of several changes gains on a scripted machine, one after the other."""

from collections.abc import Callable
from numbers import Real
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, type_name
from course_utils.pipeline import simulation_disabled

WITHIN = 0.1  # of what the machine measures
Change = dict[str, float]


class Case(TypedDict):
    """A machine, in milliseconds of a batch, and changes in their order: new values of some keys."""

    machine: dict[str, int]
    changes: list[Change]


class Answer(TypedDict):
    """The predicted gains; None and a type where they are no list of numbers."""

    gains: list[float] | None
    kind: str


class Found(TypedDict):
    """The answers to all cases, and to all cases again."""

    first: list[Answer]
    again: list[Answer]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw machines that begin without and with workers, each with another order of changes."""
    cases = [_case(rng, workers, order) for workers in (0, 2) for order in (0, 1, 2)] + [_worse(rng)]
    return {"cases": cases}, {"cases": cases}


def _case(rng: np.random.Generator, workers: int, order: int) -> Case:
    """Draw a case: with `order` 0 reading is slow, with 1 decoding, with 2 copying and computing."""
    read, on_core, device = ((16, 3, 1), (4, 6, 1), (3, 2, 3))[order]
    compute = int(rng.integers(18, 24)) * device
    machine = {
        "read": int(rng.integers(18, 24)) * read,
        "decode": int(rng.integers(14, 20)) * on_core,
        "floats": int(rng.integers(7, 10)) * on_core,
        "transfer": int(compute * (rng.uniform(1.3, 1.6) if order == 2 else rng.uniform(0.7, 0.95))),
        "compute": compute,
        "workers": workers,
        "cores": (2, 2, 3)[order],
        "pinned": False,
    }
    changes: dict[str, Change] = {
        "workers": {"workers": int(rng.integers(5, 8))},
        "pack": {"read": machine["read"] // int(rng.integers(5, 9))},
        "resize": {"decode": machine["decode"] // int(rng.integers(4, 7))},
        "bytes": {"floats": 0, "transfer": machine["transfer"] / 4},
        "pin": {"pinned": True},
    }
    names = rng.permutation(list(changes)).tolist()
    if order == 1 or (order and workers):  # cores or copies bound it until there are fewer bytes
        names.sort(key=lambda name: name == "bytes")
    elif order:  # the loop copies and computes in turn when there are fewer
        names.sort(key=lambda name: name != "bytes")
    elif workers:  # their number bounds it until reading is fast
        names.sort(key=lambda name: name == "pack")
    if not workers:  # without workers nothing overlaps
        names.sort(key=lambda name: name != "workers")
    return {"machine": machine, "changes": [changes[name] for name in names]}


def _worse(rng: np.random.Generator) -> Case:
    """Draw a case that is pinned before it has workers, has a single one, and loses a core."""
    read, decode, floats, transfer, compute = (int(rng.integers(9, 11)) * n for n in (6, 6, 3, 6, 5))
    machine = {"read": read, "decode": decode, "floats": floats, "transfer": transfer, "compute": compute}
    changes: list[Change] = [{"pinned": True}, {"workers": 1}, {"workers": 4}, {"cores": 1}]
    return {"machine": {**machine, "workers": 0, "cores": 2, "pinned": False}, "changes": changes}


def probe(inputs: Inputs, predict: Callable[..., Any]) -> Found:
    """Ask for the gains of each case, twice, with the course's own model disabled."""

    def answer(case: Case) -> Answer:
        found = predict(dict(case["machine"]), [dict(change) for change in case["changes"]])
        listed = found.tolist() if isinstance(found, np.ndarray) else found
        if not isinstance(listed, (list, tuple)) or not all(isinstance(gain, Real) for gain in listed):
            within = {type_name(gain) for gain in listed} if isinstance(listed, (list, tuple)) else ()
            return {"gains": None, "kind": " of ".join([type_name(found), *sorted(within)[:1]])}
        return {"gains": [float(gain) for gain in listed], "kind": ""}

    with simulation_disabled():
        first = [answer(case) for case in inputs["cases"]]
        again = [answer(case) for case in reversed(inputs["cases"])]
    return {"first": first, "again": again[::-1]}


def judge(truth: Truth, evidence: Evidence) -> str:
    """Run the machine before and after each change, and compare with what was predicted."""
    from course_utils.checks.your_training._gain_rules import KNOWN_MISTAKES, gains

    cases, predicted = truth["cases"], []
    for case, answer in zip(cases, evidence["first"], strict=True):
        if answer["gains"] is None or len(answer["gains"]) != len(case["changes"]):
            what = answer["kind"] or f"a list of length {len(answer['gains'])}"
            raise Mistake(
                "not_a_list",
                f"Return a list with {len(case['changes'])} numbers, one a change; you returned {what}.",
            )
        predicted.append(answer["gains"])
    if evidence["again"] != evidence["first"]:
        raise Mistake(
            "keeps_state",
            "Asked twice about the same machine, you predict other gains: keep nothing outside the function.",
        )
    measured = [gains(case["machine"], case["changes"]) for case in cases]
    if not all(map(_agree, predicted, measured)):
        for name, (rule, advice) in KNOWN_MISTAKES.items():
            expected = [rule(case["machine"], case["changes"]) for case in cases]
            if all(map(_nearly, predicted, expected)):
                raise Mistake(name, advice)
        raise _unknown_mistake(cases, predicted, measured)
    return (
        "Each of your gains lies within a tenth of what the machine measured: of workers that wait together "
        "and share cores, of what a device does at the same time, and of changes on top of others."
    )


def _agree(predicted: list[float], measured: list[float], within: float = WITHIN) -> bool:
    return all(abs(a - b) <= within * abs(b) + 1e-6 for a, b in zip(predicted, measured, strict=True))


def _nearly(predicted: list[float], expected: list[float]) -> bool:
    """Compare with a mistake, whose filling of the pipeline is not simulated alike."""
    return _agree(predicted, expected, within=0.02)


def _unknown_mistake(cases: list[Case], predicted: list[list[float]], measured: list[list[float]]) -> Mistake:
    case, found, right = next(
        row for row in zip(cases, predicted, measured, strict=True) if not _agree(row[1], row[2])
    )
    number = next(n for n in range(len(right)) if not _agree([found[n]], [right[n]]))
    before = ", ".join(map(str, case["changes"][:number])) or "none"
    return Mistake(
        "wrong_gain",
        f"For the change {case['changes'][number]} you predict {found[number]:.2f} times as fast; the "
        f"machine measured {right[number]:.2f}. It has {case['machine']}; the changes before: {before}. "
        "Write down what a batch takes before and after, part by part.",
    )

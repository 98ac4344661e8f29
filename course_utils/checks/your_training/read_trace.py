"""Exercise of lesson 06: which part of a training is waiting, and which stage is slow, from a trace."""

from collections.abc import Callable
from numbers import Real
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, type_name
from course_utils.checks.your_training._traces import LONG_STEP, QUICK_STEP, SHORT, STAGES, Row, draw_rows


class Answer(TypedDict):
    """What was returned for a trace: share and stage, or the type of what is neither."""

    share: float | None
    stage: str | None
    kind: str


class Found(TypedDict):
    """The answers for all traces, and for all again in the other order."""

    first: list[Answer]
    again: list[Answer]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw three traces, each with another slow stage; most batches of the last one are the first ones."""
    lengths = [int(rng.integers(20, 30)), int(rng.integers(20, 30)), SHORT]
    usual, others = rng.permutation(STAGES[:4]).tolist(), rng.permutation(STAGES[4:]).tolist()
    slow = rng.permutation([*usual[:2], others[0]]).tolist()
    steps = (QUICK_STEP, LONG_STEP, LONG_STEP)
    traces = [draw_rows(rng, *drawn) for drawn in zip(slow, lengths, steps, strict=True)]
    return {"traces": traces}, {"traces": traces}


def probe(inputs: Inputs, read: Callable[..., Any]) -> Found:
    """Ask for the answer to each trace, twice."""

    def answer(rows: list[Row]) -> Answer:
        found = read([tuple(row) for row in rows])
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            return {"share": None, "stage": None, "kind": type_name(found)}
        share, stage = found
        is_number = isinstance(share, Real) and not isinstance(share, bool)
        return {
            "share": float(share) if is_number else None,
            "stage": str(stage) if isinstance(stage, str) else None,
            "kind": f"({type_name(share)}, {type_name(stage)})",
        }

    first = [answer(rows) for rows in inputs["traces"]]
    again = [answer(rows) for rows in reversed(inputs["traces"])]
    return {"first": first, "again": again[::-1]}


def judge(truth: Truth, evidence: Evidence) -> str:
    """Compare both with what each known mistake would find."""
    from course_utils.checks.your_training._trace_rules import ReadTrace, agree, wrong_share, wrong_stage

    for answer in evidence["first"]:
        if answer["share"] is None or answer["stage"] is None:
            raise Mistake(
                "not_a_pair",
                f"Return two things, a number and the name of a stage; you returned {answer['kind']}.",
            )
    if evidence["again"] != evidence["first"]:
        raise Mistake(
            "keeps_state",
            "Asked twice about the same trace, you answer differently. Each call must start afresh: keep no "
            "list outside the function.",
        )
    traces = [ReadTrace(rows) for rows in truth["traces"]]
    shares = [answer["share"] for answer in evidence["first"]]
    if not agree(shares, [trace.share() for trace in traces]):
        raise wrong_share(traces, shares)
    for trace, answer in zip(traces, evidence["first"], strict=True):
        if answer["stage"] != trace.slow_stage():
            raise wrong_stage(trace, str(answer["stage"]))
    return (
        "Both are right: the waits of the main process alone, each moment once, without the first batches; "
        "and the stage that takes longest in a usual batch."
    )

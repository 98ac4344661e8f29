"""Check a sampler that shares the samples of an evaluation among ranks."""

import operator
from collections.abc import Callable, Iterable, Sized
from functools import partial
from itertools import islice, zip_longest
from typing import Any, NamedTuple, TypedDict

import numpy as np

from course_utils.checks import core
from course_utils.checks.many_nodes._evaluation_shares import (
    NOT_A_NUMBER,
    Evaluation,
    Read,
    expect_each_once,
    expect_lengths,
    expect_same_again,
    expect_samplers,
)

_ENDED = object()


class Rank(NamedTuple):
    """A rank of an evaluation, both by number."""

    evaluation: int
    rank: int


class Found(TypedDict):
    """What each rank's sampler does, what new ones yield in turns, and changed global generators."""

    ranks: list[core.AttemptOf[Read]]
    in_turns: core.AttemptOf[list[list[int]]]
    changed: list[str]


def make(rng: np.random.Generator) -> tuple[core.Inputs, core.Truth]:
    """Draw evaluations: samples on ranks that do and do not divide them, few samples, none, one rank."""
    some, more = ((3, 4), (3, 5), (4, 5), (5, 4))[rng.integers(4)]
    evaluations = [
        (some * int(rng.integers(11, 15)) + int(rng.integers(1, some)), some),
        (more * int(rng.integers(7, 10)) + int(rng.integers(1, more)), more),
        (some * int(rng.integers(5, 8)), some),
        (int(rng.integers(25, 35)), 1),
        (more + 1, more),  # in blocks of two, the last ranks have none
        (int(rng.integers(2, 5)), 7),
        (0, 2),
    ]
    ranks = [(number, rank) for number, (_, size) in enumerate(evaluations) for rank in range(size)]
    order = [ranks[place] for place in rng.permutation(len(ranks))]
    return {"evaluations": evaluations, "order": order}, {"evaluations": evaluations, "order": order}


def probe(inputs: core.Inputs, sampler: Callable[..., Any]) -> Found:
    """Build the sampler of each rank and read it twice, then build new ones and read them in turns."""
    evaluations = [Evaluation(*drawn) for drawn in inputs["evaluations"]]
    asked = [Rank(*drawn) for drawn in inputs["order"]]

    def build(place: int) -> Any:  # noqa: ANN401 - whatever the student returns
        evaluation = evaluations[asked[place].evaluation]
        return sampler(evaluation.samples, asked[place].rank, evaluation.ranks)

    def read(place: int) -> Read:
        limit = evaluations[asked[place].evaluation].samples + 1
        with processes.of_process(2 * place):
            built = build(place)
            if not (isinstance(built, Iterable) and isinstance(built, Sized)):
                return {"kind": core.type_name(built), "lengths": [], "numbers": [], "again": []}
            before, iterator = len(built), iter(built)
            first = _numbers(iterator, 1)
            meanwhile, numbers = len(built), first + _numbers(iterator, limit - 1)
        with processes.of_process(2 * place + 1):
            again, after = _numbers(built, limit), len(built)
        return {"kind": "", "lengths": [before, meanwhile, after], "numbers": numbers, "again": again}

    def read_in_turns() -> list[list[int]]:
        limit = max(evaluation.samples for evaluation in evaluations) + 1
        with processes.of_process(2 * len(asked)):
            return _in_turns([build(place) for place in range(len(asked))], limit)

    with core.ProcessStates() as processes:
        ranks: list[Any] = [core.attempt(partial(read, place)) for place in range(len(asked))]
        is_read = all("value" in one and not one["value"]["kind"] for one in ranks)
        turns: Any = core.attempt(read_in_turns) if is_read else {"value": []}
    return {"ranks": ranks, "in_turns": turns, "changed": sorted(processes.changed)}


def _numbers(sampler: Iterable[object], limit: int) -> list[int]:
    return [_number(sample) for sample in islice(sampler, limit)]


def _number(sample: object) -> int:
    try:
        return operator.index(sample)  # type: ignore[arg-type]  # whatever the student yields
    except TypeError:
        return NOT_A_NUMBER


def _in_turns(samplers: list[Any], limit: int) -> list[list[int]]:
    """Read samplers at the same time, a number of each in turn."""
    rows = list(islice(zip_longest(*samplers, fillvalue=_ENDED), limit))
    return [
        [_number(row[place]) for row in rows if row[place] is not _ENDED] for place in range(len(samplers))
    ]


def judge(truth: core.Truth, evidence: core.Evidence) -> str:
    """Check the shares of each evaluation, then lengths, then that they are the same each time."""
    order = [Rank(*drawn) for drawn in truth["order"]]
    evaluations = [Evaluation(*drawn) for drawn in truth["evaluations"]]
    attempts = dict(zip(order, evidence["ranks"], strict=True))
    by_evaluation = [
        [attempts[Rank(number, rank)] for rank in range(evaluation.ranks)]
        for number, evaluation in enumerate(evaluations)
    ]
    for evaluation, of_ranks in zip(evaluations, by_evaluation, strict=True):
        expect_samplers(evaluation, of_ranks)
    read: list[Read] = [one["value"] for one in evidence["ranks"]]
    for evaluation, of_ranks in zip(evaluations, by_evaluation, strict=True):
        shares = [one["value"] for one in of_ranks]
        expect_each_once(evaluation, shares)
        expect_lengths(evaluation, shares)
    expect_same_again(read, core.value_of(evidence["in_turns"]), evidence["changed"])
    return (
        "Every sample is evaluated exactly once on any number of ranks, in shares as even as can be, and "
        "each length is right."
    )


def stable(truth: core.Truth, evidence: core.Evidence) -> core.Evidence:
    """Return the shares, which must be the same in each process."""
    return [one["value"]["numbers"] for one in evidence["ranks"]]

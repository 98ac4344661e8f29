"""Check packs of documents.

How the work grows is judged by the steps of Python code for few documents and for eight times as many, which
are the same in each run. A call of NumPy is one step, however long its arrays are: code that looks through
all packs with NumPy is not found.
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict

import numpy as np

from course_utils.checks import core
from course_utils.checks.beyond_photographs._counted_steps import CountedLength, count_steps

FEW, MANY = 500, 4000  # documents whose packing is counted
# 8 where the work grows like the documents, 11 with a logarithm, 60 where all packs are looked through.
MOST_GROWTH = 28
# A document; a look at each of 128 lengths, or at some hundred open packs, takes half of it.
MOST_STEPS = 1200
COUNTED_BLOCK = 128


class Packs(TypedDict):
    """The packs of a call.

    `problem` says what is wrong with their form; `changed` whether the list of lengths was changed.
    """

    problem: str
    packs: list[list[int]]
    changed: bool


class Found(TypedDict):
    """The packs by call, changed global generators, and the steps for few and for many documents."""

    calls: list[core.AttemptOf[Packs]]
    changed: list[str]
    steps: core.AttemptOf[list[int]]


def make(rng: np.random.Generator) -> tuple[core.Inputs, core.Truth]:
    """Draw two corpora and two tiny ones; the large ones are packed twice with a seed, and with another."""
    corpora = [_draw_corpus(rng, 1500, 1024), _draw_corpus(rng, 1200, 400), ([300, 300, 1], 300), ([7], 64)]
    one, other = rng.choice(10_000, 2, replace=False).tolist()
    calls = [(0, one), (1, other), (2, 0), (0, one), (1, other), (3, 1), (0, other), (1, one)]
    counted = [_draw_corpus(rng, count, COUNTED_BLOCK)[0] for count in (FEW, MANY)]
    return {"corpora": corpora, "calls": calls, "counted": counted}, {"corpora": corpora, "calls": calls}


def _draw_corpus(rng: np.random.Generator, documents: int, block: int) -> tuple[list[int], int]:
    """Draw lengths as those of texts: most far shorter than a block, some of which were cut to it.

    Best fit in random order leaves 1.5 % of the places empty, four open packs 6 %, and one 20 %.
    """
    lengths = 0.26 * block * np.exp(rng.normal(0, 0.9, documents))
    return np.clip(lengths.astype(int), 2, block).tolist(), block


def probe(inputs: core.Inputs, pack: Callable[..., Any]) -> Found:
    """Ask for the packs of the corpora in turn, then count the steps for few and for many documents."""
    calls: list[Any] = []
    with core.ProcessStates() as processes:
        for number, (corpus, seed) in enumerate(inputs["calls"]):
            with processes.of_process(number):
                lengths, block = inputs["corpora"][corpus]
                calls.append(core.attempt(partial(_packs, pack, lengths, block, seed)))
        with processes.of_process(len(calls)):
            steps: Any = core.attempt(partial(_steps, pack, inputs["counted"]))
    return {"calls": calls, "changed": sorted(processes.changed), "steps": steps}


def _packs(pack: Callable[..., Any], lengths: list[int], block: int, seed: int) -> Packs:
    given = list(lengths)
    result = pack(given, block, seed)
    found: Packs = {"problem": "", "packs": [], "changed": given != lengths}
    try:
        found["packs"] = [[operator.index(document) for document in one] for one in result]
    except TypeError as error:
        found["problem"] = f"{core.type_name(result)} ({error})"
    return found


def _steps(pack: Callable[..., Any], counted: list[list[int]]) -> list[int]:
    """Return the steps for few and for many documents; counting ends where they are too many."""
    few, many = ([CountedLength(length) for length in lengths] for lengths in counted)
    steps = count_steps(partial(pack, few, COUNTED_BLOCK, 0), MOST_STEPS * FEW)
    most = min(MOST_GROWTH * steps, MOST_STEPS * MANY)
    return [steps, count_steps(partial(pack, many, COUNTED_BLOCK, 0), most)]


def judge(truth: core.Truth, evidence: core.Evidence) -> str:
    """Check the packs of each call, how full they are, what the seed decides, their order, and the steps."""
    # Imported here, because the sandbox of the grader does not show it.
    from course_utils.checks.beyond_photographs import _pack_rules as rules

    calls = [rules.Call(corpus, seed, *truth["corpora"][corpus]) for corpus, seed in truth["calls"]]
    packed = [core.value_of(one) for one in evidence["calls"]]
    for call, one in zip(calls, packed, strict=True):
        rules.expect_packs(call, one)
    packs = [one["packs"] for one in packed]
    rules.expect_seeded(calls, packs, evidence["changed"])
    for call, one in zip(calls, packs, strict=True):
        rules.expect_full(call, one)
        rules.expect_mixed(call, one)
    few, many = core.value_of(evidence["steps"])
    most = min(MOST_GROWTH * few, MOST_STEPS * MANY)
    rules.expect_growth(few > MOST_STEPS * FEW or many > most, few, most)
    return (
        "Each document is in one pack, whole; hardly a place is empty, the seed decides, and the work grows "
        "like the number of documents."
    )


def stable(truth: core.Truth, evidence: core.Evidence) -> core.Evidence:
    """Return the packs, which must be the same in each process."""
    return [one.get("value", {}).get("packs") for one in evidence["calls"]]

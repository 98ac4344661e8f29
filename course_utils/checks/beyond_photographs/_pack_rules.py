"""Which packs of documents are right."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from course_utils.checks import core

mistake = core.Messages(__name__)

MOST_EMPTY = 0.03
SOME_PACKS = 100  # from which on their order shows
MOST_TREND = 0.8  # standard deviations between the halves: 0.2 where it is random, 1.4 or more where sorted


class Call(NamedTuple):
    """A call, by the number of its corpus and the seed, with its other arguments."""

    corpus: int
    seed: int
    lengths: list[int]
    block: int


def expect_packs(call: Call, found: Mapping[str, Any]) -> None:
    """Check that each document is in one pack, and that none holds more than a block."""
    if found["problem"]:
        raise mistake("not_packs", problem=found["problem"])
    counts = Counter(document for one in found["packs"] for document in one)
    numbers = set(range(len(call.lengths)))
    foreign, missing = sorted(counts.keys() - numbers), sorted(numbers - counts.keys())
    twice = sorted(document for document, count in counts.items() if count > 1)
    used = [sum(call.lengths[document] for document in one if document in numbers) for one in found["packs"]]
    fullest = max(used, default=0)
    mistake.raise_first(
        {
            "lengths_changed": found["changed"],
            "lengths_in_packs": sorted(counts.elements()) == sorted(call.lengths) and len(numbers) > 1,
            "no_such_document": foreign,
            "in_two_packs": twice,
            "left_out": missing,
            "too_full": fullest > call.block,
        },
        documents=len(numbers),
        foreign=foreign[:3],
        twice=twice[:3],
        missing=len(missing),
        most=fullest,
        block=call.block,
    )


def expect_seeded(calls: Sequence[Call], packs: Sequence[list[list[int]]], changed: Sequence[str]) -> None:
    """Check that a seed decides the packs of a corpus, which is packed several times."""
    by_corpus: dict[int, dict[int, list[list[int]]]] = {}
    for call, found in zip(calls, packs, strict=True):
        if by_corpus.setdefault(call.corpus, {}).setdefault(call.seed, found) != found:
            raise mistake("other_packs_again", seed=call.seed)
    for by_seed in by_corpus.values():
        first, *others = by_seed.values()
        if first in others:
            raise mistake("seed_ignored", seeds=sorted(by_seed))
    if changed:
        raise mistake("global_generator", changed=" and ".join(changed))


def expect_full(call: Call, packs: Sequence[Sequence[int]]) -> None:
    """Check how many places are empty in all packs but the emptiest."""
    empty = sorted(call.block - sum(call.lengths[document] for document in one) for one in packs)[:-1]
    share = sum(empty) / (call.block * max(len(empty), 1))
    if share > MOST_EMPTY:
        raise mistake(
            "too_empty", share=share, most=MOST_EMPTY, documents=len(call.lengths), packs=len(packs)
        )


def expect_mixed(call: Call, packs: Sequence[Sequence[int]]) -> None:
    """Check that early packs hold documents as long as late ones."""
    if len(packs) < SOME_PACKS:
        return
    longest = np.array([max((call.lengths[document] for document in one), default=0) for one in packs])
    early, late = np.array_split(longest, 2)
    trend = (early.mean() - late.mean()) / max(float(longest.std()), 1e-9)
    if abs(trend) > MOST_TREND:
        raise mistake("sorted_packs", early=early.mean(), late=late.mean())


def expect_growth(grows: bool, few: int, most: int) -> None:
    """Check that eight times the documents take about eight times the steps."""
    mistake.raise_first({"work_grows": grows}, few=few, most=most)

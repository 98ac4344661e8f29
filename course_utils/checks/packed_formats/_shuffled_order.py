"""Whether the order in which a shuffle buffer yields is random, and what decides it."""

import math
from collections import Counter, defaultdict

import numpy as np

from course_utils.checks.core import Mistake
from course_utils.checks.packed_formats._shuffled_epoch import Epoch


def expect_generator(changed: list[str], one: Epoch, same: Epoch, different: Epoch, next_one: Epoch) -> None:
    """Compare the orders of four epochs of streams of one length.

    Args:
        changed: Names of global generators that were used.
        one: An epoch.
        same: One with a generator of the same state.
        different: One with a generator of another state, read in turn with `same`.
        next_one: One with the generator of `one`, after it.

    Raises:
        Mistake: Something other than the generator decides the order, or not even that.
    """
    first, again, other, after = (epoch.order() for epoch in (one, same, different, next_one))
    if first == sorted(first) and other == sorted(other):
        raise Mistake(
            "not_shuffled",
            "The samples come in the order of the stream. Let rng draw which sample leaves the buffer.",
        )
    if changed:
        raise Mistake(
            "global_generator",
            f"Your code draws from or seeds the global generator of {', '.join(changed)}. Other code uses it "
            "too. Draw from rng alone.",
        )
    if first == other:
        raise Mistake(
            "ignores_generator",
            "Two generators with different states give the same order. Draw all random numbers from rng.",
        )
    if first != again:
        raise Mistake(
            "not_reproducible",
            "Two generators with the same state give different orders; the second time, another stream was "
            "read in turn. Something else than rng decides, or something is shared between the calls.",
        )
    if first == after:
        raise Mistake(
            "same_order_each_epoch",
            "Two epochs with one generator have the same order. Draw from rng itself, not from a copy of it.",
        )


def expect_mixed(long: list[Epoch], short: list[Epoch]) -> None:
    """Check that each sample in the buffer is equally likely to be the next.

    Args:
        long: Epochs of streams longer than the buffer.
        short: Epochs of others.

    Raises:
        Mistake: It is not, while the stream is read or at its end.
    """
    if not _even([rank for epoch in long for rank in epoch.ranks()[0]], 0.01):
        raise Mistake(
            "mixes_too_little",
            "While the stream is read, some samples in the buffer are yielded sooner than others: each must "
            "be equally likely to be the next. Draw from the whole buffer, each time.",
        )
    rests = [[rank for epoch in epochs for rank in epoch.ranks()[1]] for epochs in (long, short)]
    if not all(_even(rest, 0.05) for rest in rests):
        raise Mistake(
            "rest_not_shuffled",
            "The samples that are in the buffer when the stream ends are not shuffled; of a stream shorter "
            "than the buffer, that is all of them. Draw from those at random, too.",
        )


def expect_each_place(tiny: list[Epoch]) -> None:
    """Check that each place of a small buffer is drawn as often as the others.

    Args:
        tiny: Epochs of streams of one length through buffers of one size.

    Raises:
        Mistake: A place is drawn too rarely or too often, in a full buffer or while the rest is yielded.
    """
    size, drawn = tiny[0].size, defaultdict[tuple[int, int], Counter[int]](Counter)
    for epoch in tiny:
        for place, held, read in epoch.places():
            choices = min(held, size)  # the sample in hand is not yet in the buffer
            for step in (0, read):  # all draws together, and those of each step: who never moves grows old
                drawn[choices, step][place] += 1
    unlikely = [
        [counts[place] for place in range(choices)]
        for (choices, _), counts in sorted(drawn.items(), reverse=True)
        if not all(is_likely(counts[place], counts.total(), 1 / choices) for place in range(choices))
    ]
    if not unlikely:
        return
    often = min(unlikely, key=min)
    told = (
        f"A buffer of {size} held {len(often)} samples {sum(often)} times, and from the oldest to the newest "
        f"of them, they were yielded {', '.join(map(str, often))} times: each should be equally likely."
    )
    if len(often) < size or tiny[0].length <= size:
        raise Mistake("rest_not_shuffled", f"{told} That is so in the rest, when the stream has ended, too.")
    if min(often) == 0:
        raise Mistake("leaves_out_a_place", f"{told} rng.integers(n) draws from 0 to n - 1.")
    raise Mistake("mixes_too_little", f"{told} Draw from the whole buffer, each time.")


def is_likely(count: int, draws: int, probability: float) -> bool:
    """Return whether a count is one of the likely ones: Chernoff's bound of the binomial distribution.

    A right answer has less than one chance in 10 ** 11 to be refused by a count, and there are some 40.
    """
    part = count / draws
    pairs = ((part, probability), (1 - part, 1 - probability))
    divergence = sum(found * math.log(found / wanted) for found, wanted in pairs if found and wanted)
    return draws * divergence < math.log(2e11)


def _even(ranks: list[float], rounding: float) -> bool:
    """Return whether numbers look drawn evenly from 0 to 1: a Kolmogorov-Smirnov test.

    Chance alone makes it fail for one in a billion of right answers. Beyond that it allows for the rounding
    of the ranks, which is coarse where few samples are left.
    """
    even = (np.arange(len(ranks)) + 0.5) / max(len(ranks), 1)
    distance = np.abs(np.sort(ranks) - even).max(initial=0)
    return bool(distance < math.sqrt(math.log(2e9) / 2 / max(len(ranks), 1)) + rounding)

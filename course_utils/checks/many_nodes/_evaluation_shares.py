"""What each rank evaluates: every sample once, in even shares, the same each time."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, TypedDict

from course_utils.checks.core import Attempt, Messages, is_unsolved, value_of

mistake = Messages(__name__)

NOT_A_NUMBER = -(2**40)  # stands for what is not a number


class Evaluation(NamedTuple):
    """A number of samples, and the number of ranks that evaluate them."""

    samples: int
    ranks: int

    def __str__(self) -> str:
        return f"{self.samples} samples on {self.ranks} ranks"


class Read(TypedDict):
    """What was read from a sampler.

    Args:
        kind: The name of its type if it is no sampler; otherwise empty.
        lengths: Its length before it was read, after its first number, and at the end.
        numbers: The numbers that it yields.
        again: Those that it yields when it is read again.
    """

    kind: str
    lengths: list[int]
    numbers: list[int]
    again: list[int]


def expect_samplers(evaluation: Evaluation, found: Sequence[Attempt]) -> None:
    """Check that each rank gets a sampler, also where there is nothing for it to do.

    Raises:
        Mistake: One is something else, or stops with an error.
    """
    for rank, one in enumerate(found):
        error = one.get("error")
        if error and evaluation.samples < 2 * evaluation.ranks and not is_unsolved(error):
            raise mistake("empty_rank_crashes", evaluation=evaluation, rank=rank, error=error)
        if kind := value_of(one)["kind"]:
            raise mistake("not_a_sampler", kind=kind)


def expect_each_once(evaluation: Evaluation, shares: Sequence[Read]) -> None:
    """Check that all ranks together yield each sample once, in shares that are as even as can be.

    Raises:
        Mistake: They do not; the message names samples and ranks.
    """
    yielded, numbers = [share["numbers"] for share in shares], range(evaluation.samples)
    counts = Counter(chain(*yielded))
    foreign = sorted(counts.keys() - set(numbers))
    mistakes = {"not_a_number": NOT_A_NUMBER in counts, "no_such_sample": foreign}
    mistake.raise_first(mistakes, evaluation=evaluation, foreign=foreign, last=evaluation.samples - 1)
    doubled = [number for number in numbers if counts[number] > 1]
    missing = [number for number in numbers if counts[number] == 0]
    most, fair = max(map(len, yielded)), -(-evaluation.samples // evaluation.ranks)
    twice = f"sample {doubled[0]} comes more than once (on {_ranks(yielded, doubled[0])})" if doubled else ""
    first_twice = all(own[:1] == own[1:2] and len(set(own)) == len(own) - 1 for own in yielded if own)
    in_order = all(own in (sorted(own), sorted(own, reverse=True)) for own in yielded)
    mistake.raise_first(
        {
            "begins_again": doubled and not missing and first_twice,
            "every_rank_has_all": doubled and all(len(set(own)) == len(numbers) for own in yielded),
            "pads": doubled and not missing,
            "drops": missing and not doubled,
            "ranks_disagree": missing and not in_order,
            "shares_overlap": missing,
            "uneven_shares": most > fair,
        },
        evaluation=evaluation,
        twice=twice,
        never=f"sample {missing[0]} is never evaluated" if missing else "",
        samples=_samples(len(doubled or missing)),
        most=most,
        fair=fair,
    )


def _samples(count: int) -> str:
    return f"{count} samples have" if count > 1 else "one sample has"


def _ranks(yielded: list[list[int]], number: int) -> str:
    ranks = [rank for rank, own in enumerate(yielded) for found in own if found == number]
    return "ranks " + " and ".join(map(str, ranks[:2])) if len(set(ranks)) > 1 else f"rank {ranks[0]}"


def expect_lengths(evaluation: Evaluation, shares: Sequence[Read]) -> None:
    """Compare the lengths with how many numbers are yielded.

    Raises:
        Mistake: A length differs.
    """
    for rank, share in enumerate(shares):
        count, lengths = len(share["numbers"]), share["lengths"]
        for length in (length for length in lengths if length != count):
            values = {"rank": rank, "count": count, "length": length, "lengths": ", ".join(map(str, lengths))}
            raise mistake("wrong_length", evaluation=evaluation, **values)


def expect_same_again(read: Sequence[Read], in_turns: Sequence[list[int]], changed: list[str]) -> None:
    """Check that a sampler yields the same each time, whatever others do.

    Args:
        read: What was read from the sampler of each rank, one after another.
        in_turns: What others with the same arguments yield when they are read at the same time.
        changed: Names of global generators that changed.

    Raises:
        Mistake: Something differs.
    """
    for one in read:
        never_again = one["numbers"] and not one["again"]
        other = one["again"] != one["numbers"]
        mistake.raise_first({"read_only_once": never_again, "not_the_same_again": other})
    shared = [one["numbers"] for one in read] != list(in_turns)
    mistake.raise_first({"shares_state": shared, "global_generator": changed}, changed=", ".join(changed))

"""What each rank evaluates: every sample once, in even shares, the same each time."""

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, TypedDict

from course_utils.checks.core import Attempt, Mistake, is_unsolved, value_of

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
            raise Mistake(
                "empty_rank_crashes",
                f"With {evaluation}, rank {rank} stops with an error: {error}. A rank may have nothing to "
                "do: then it yields nothing, and its length is 0.",
            )
        if kind := value_of(one)["kind"]:
            raise Mistake(
                "not_a_sampler",
                f"EvaluationSampler(...) gives an object of type {kind}. A DataLoader asks its sampler for "
                "len(sampler) and for iter(sampler): write a class with __len__ and __iter__, or return a "
                "sequence.",
            )


def expect_each_once(evaluation: Evaluation, shares: Sequence[Read]) -> None:
    """Check that all ranks together yield each sample once, in shares that are as even as can be.

    Raises:
        Mistake: They do not; the message names samples and ranks.
    """
    yielded = [share["numbers"] for share in shares]
    counts = Counter(chain(*yielded))
    if NOT_A_NUMBER in counts:
        raise Mistake(
            "not_a_number",
            f"With {evaluation}, a rank yields something other than the number of a sample. Yield one int "
            "after the other; the DataLoader makes the batches.",
        )
    if foreign := sorted(counts.keys() - set(range(evaluation.samples))):
        raise Mistake(
            "no_such_sample",
            f"With {evaluation}, a rank yields {foreign[0]}: the numbers are 0 to {evaluation.samples - 1}. "
            "Use only the arguments of this sampler.",
        )
    doubled = [number for number in range(evaluation.samples) if counts[number] > 1]
    missing = [number for number in range(evaluation.samples) if counts[number] == 0]
    if doubled or missing:
        raise _not_once(evaluation, yielded, doubled, missing)
    most, fair = max(map(len, yielded)), -(-evaluation.samples // evaluation.ranks)
    if most > fair:
        raise Mistake(
            "uneven_shares",
            f"With {evaluation}, one rank has {most} of them, and all others wait for it. No rank needs more "
            f"than {fair}: the number of samples, divided by that of the ranks and rounded up.",
        )


def _not_once(
    evaluation: Evaluation, yielded: list[list[int]], doubled: list[int], missing: list[int]
) -> Mistake:
    twice = f"sample {doubled[0]} comes more than once (on {_ranks(yielded, doubled[0])})" if doubled else ""
    never = f"sample {missing[0]} is never evaluated" if missing else ""
    if not missing and all(own[:1] == own[1:2] and len(set(own)) == len(own) - 1 for own in yielded if own):
        return Mistake(
            "begins_again",
            f"With {evaluation}, {twice}: an iterator of your sampler begins again when iter() is called on "
            "it. A DataLoader does so for each batch, and would get the first one again and again. Let "
            "__iter__ return a new iterator each time.",
        )
    if all(len(set(own)) == evaluation.samples for own in yielded):
        return Mistake(
            "every_rank_has_all",
            f"With {evaluation}, every rank evaluates all of them. Let each rank take a part.",
        )
    if not missing:
        return Mistake(
            "pads",
            f"With {evaluation}, {twice}: {_samples(len(doubled))} too much weight in the result. Equal "
            "lengths are for training, where ranks wait for each other in each step. Here, a rank may have "
            "fewer samples than another.",
        )
    if not doubled:
        return Mistake(
            "drops",
            f"With {evaluation}, {never}: {_samples(len(missing))} no weight in the result. Where the "
            "number of samples is no multiple of the number of ranks, some ranks have one more.",
        )
    if any(own not in (sorted(own), sorted(own, reverse=True)) for own in yielded):
        return Mistake(
            "ranks_disagree",
            f"With {evaluation}, {twice} and {never}. The ranks seem to shuffle differently: all need the "
            "same order, of which each takes a part. Nothing that differs between ranks may decide it: the "
            "rank, a global generator, hash() of a text. An evaluation needs no shuffling at all.",
        )
    return Mistake(
        "shares_overlap",
        f"With {evaluation}, {twice} and {never}. Write down by hand which of 5 samples each of 2 ranks "
        "gets.",
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
        for length in share["lengths"]:
            if length != len(share["numbers"]):
                raise Mistake(
                    "wrong_length",
                    f"With {evaluation}, rank {rank} yields {len(share['numbers'])} numbers, but the length "
                    f"of its sampler is {length} (before, after the first number, at the end: "
                    f"{', '.join(map(str, share['lengths']))}). A progress bar and a loop over len(loader) "
                    "batches rely on it.",
                )


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
        if one["again"] != one["numbers"] and not one["again"]:
            raise Mistake(
                "read_only_once",
                "A sampler yields nothing when it is read for the second time, as after the next epoch of "
                "the training. Let __iter__ return a new iterator each time.",
            )
        if one["again"] != one["numbers"]:
            raise Mistake(
                "not_the_same_again",
                "A sampler yields other numbers when it is read for the second time. Two evaluations are "
                "compared with each other: let nothing but the three arguments decide.",
            )
    for one, other in zip(read, in_turns, strict=True):
        if other != one["numbers"]:
            raise Mistake(
                "shares_state",
                "Samplers that are read at the same time yield other numbers than alone. Keep what a sampler "
                "needs in the object, not in the class or in a global variable.",
            )
    if changed:
        raise Mistake(
            "global_generator",
            f"Your code draws from or seeds the global generator of {', '.join(changed)}: the training goes "
            "on with other random numbers after an evaluation. An evaluation needs no randomness.",
        )

"""Lesson 00: is a dataset lazy, and are its indices those of a Python sequence?"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth


class Shelf:
    """An indexable with the least one may expect: a length, and an item for each index from 0 on.

    It knows nothing of negative indices and, like a function, has no end of its own. It keeps a list of what
    was asked.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> int:
        if not isinstance(index, int | np.integer) or index < 0:
            raise TypeError(f"this collection is asked with whole numbers from 0 on, not with {index!r}")
        self.asked.append(int(index))
        return self.numbers[index % len(self.numbers)]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw the items of a collection and the factor by which the transform multiplies them."""
    numbers = rng.choice(10_000, size=int(rng.integers(6, 12)), replace=False).tolist()
    inputs = {"numbers": numbers, "factor": int(rng.integers(2, 9))}
    return inputs, dict(inputs)


def _outcome(dataset: Any, index: int) -> Evidence:  # noqa: ANN401 - the student's dataset
    try:
        return {"value": dataset[index]}
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Index the student's dataset in and out of range, counting reads and transform calls."""
    numbers, factor = inputs["numbers"], inputs["factor"]
    calls: list[int] = []

    def scale(number: int) -> int:
        calls.append(int(number))
        return int(number) * factor

    shelf, n = Shelf(numbers), len(numbers)
    dataset = dataset_class(shelf, scale)
    found: dict[str, Any] = {
        "asked_early": len(shelf.asked),
        "calls_early": len(calls),
        "length": len(dataset),
    }
    found["samples"] = [dataset[i] for i in range(n)]
    found["calls"], found["asked"] = list(calls), list(shelf.asked)
    found["again"] = _calls_of_one_more(dataset, calls)
    found["negative"] = [_outcome(dataset, i) for i in (-1, -n)]
    found["outside"] = [_outcome(dataset, i) for i in (n, n + 3, -n - 1)]
    found["loop"] = (
        len(list(itertools.islice(dataset, n + 5)))
        if found["outside"][0].get("error") == "IndexError"
        else None
    )
    plain = dataset_class(Shelf(numbers))
    found["plain"] = [_outcome(plain, i) for i in range(n)]
    found["kinds"] = [
        [int(made[i]) for i in range(n)]
        for made in (dataset_class(kind(numbers), scale) for kind in (list, tuple, np.array))
    ]
    return found


def _calls_of_one_more(dataset: Any, calls: list[int]) -> int:  # noqa: ANN401 - the student's dataset
    before = len(calls)
    dataset[1]
    return len(calls) - before


def judge(truth: Truth, found: Evidence) -> str:
    """Check laziness, samples, transform calls and the behaviour of negative and out-of-range indices."""
    numbers = truth["numbers"]
    wanted = [number * truth["factor"] for number in numbers]
    _judge_laziness(found)
    if found["length"] != len(numbers):
        raise Mistake(
            "wrong_length", f"len(dataset) is {found['length']} for a collection of {len(numbers)} items."
        )
    if found["samples"] != wanted or any(kind != wanted for kind in found["kinds"]):
        raise Mistake(
            "wrong_samples",
            "dataset[i] must be transform(items[i]): apply the transform to the item and return it.",
        )
    if found["calls"] != numbers or found["again"] != 1:
        raise Mistake(
            "transform_not_once",
            "The transform must run once for every access, also the second access to the same index: a "
            "random "
            "transform is to give a new result in every epoch. Do not keep results, do not call it twice.",
        )
    if [one.get("value") for one in found["plain"]] != numbers:
        raise Mistake(
            "no_transform",
            "Without a transform (transform=None) dataset[i] must be the item itself, unchanged.",
        )
    _judge_indices(found, wanted)
    return "lazy, one transform an access, and indices as Python's own sequences have them"


def _judge_laziness(found: Evidence) -> None:
    if found["calls_early"]:
        raise Mistake(
            "eager_transform",
            f"The transform ran {found['calls_early']} times while the dataset was being made. Keep the "
            "items as they "
            "are and apply the transform in __getitem__, when one sample is asked for.",
        )
    if found["asked_early"]:
        raise Mistake(
            "reads_everything",
            f"Making the dataset already read {found['asked_early']} items. Keep the collection itself, "
            "not a copy: "
            "its items may be files.",
        )
    if len(found["asked"]) > len(found["samples"]):
        raise Mistake(
            "reads_everything", "One sample must read one item: ask the collection for items[index] only."
        )


def _judge_indices(found: Evidence, wanted: list[int]) -> None:
    if [one.get("value") for one in found["negative"]] != [wanted[-1], wanted[0]]:
        raise Mistake(
            "negative_index",
            "dataset[-1] must be the last sample, dataset[-len(dataset)] the first. The collection may not "
            "know "
            "negative indices: turn them into positive ones yourself before you ask it.",
        )
    for one in found["outside"]:
        if "value" in one:
            raise Mistake(
                "no_index_error",
                "An index outside of -len(dataset) ... len(dataset)-1 returned a sample. Raise IndexError "
                "there: it is "
                "what ends a `for` loop over your dataset, and what shows a wrong index instead of a wrong "
                "sample.",
            )
        if one["error"] != "IndexError":
            raise Mistake(
                "other_error",
                f"An index out of range raised {one['error']}; Python's sequences raise IndexError, and a "
                "`for` loop "
                "over your dataset ends by it.",
            )
    if found["loop"] != len(wanted):
        raise Mistake("no_index_error", f"A `for` loop over {len(wanted)} samples gave {found['loop']}.")

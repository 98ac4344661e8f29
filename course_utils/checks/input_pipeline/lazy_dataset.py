"""Check that a dataset is lazy and indexed like a Python sequence."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth


class MinimalCollection:
    """A collection with a length and items, which knows neither negative indices nor an end.

    It records the indices that it was asked for.
    """

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers
        self.asked: list[int] = []

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> int:
        if not isinstance(index, int | np.integer) or index < 0:
            raise TypeError(f"this collection takes integer indices from 0 on, not {index!r}")
        self.asked.append(int(index))
        return self.numbers[int(index) % len(self.numbers)]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw the items of a collection and the factor by which the transform multiplies them."""
    numbers = rng.choice(10_000, size=int(rng.integers(6, 12)), replace=False).tolist()
    inputs = {"numbers": numbers, "factor": int(rng.integers(2, 9))}
    return inputs, dict(inputs)


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Index the student's dataset in and out of range, and count reads and transform calls."""
    numbers: list[int] = inputs["numbers"]
    factor: int = inputs["factor"]
    calls: list[int] = []

    def scale(number: int) -> int:
        calls.append(int(number))
        return calls[-1] * factor

    collection, n = MinimalCollection(numbers), len(numbers)
    dataset = dataset_class(collection, scale)
    found: dict[str, Any] = {
        "asked_early": len(collection.asked),
        "calls_early": len(calls),
        "length": len(dataset),
    }
    found["samples"] = [dataset[i] for i in range(n)]
    found["calls"], found["asked"] = list(calls), list(collection.asked)
    dataset[1]
    found["again"] = len(calls) - len(found["calls"])
    found["negative"] = [_access(dataset, i) for i in (-1, -n)]
    found["outside"] = [_access(dataset, i) for i in (n, n + 3, -n - 1)]
    ends = found["outside"][0].get("error") == "IndexError"
    found["loop"] = len(list(itertools.islice(dataset, n + 5))) if ends else None
    plain = dataset_class(MinimalCollection(numbers))
    found["plain"] = [_access(plain, i) for i in range(n)]
    of_kinds = [dataset_class(kind(numbers), scale) for kind in (list, tuple, np.array)]
    found["kinds"] = [[int(other[i]) for i in range(n)] for other in of_kinds]
    return found


def _access(dataset: Any, index: int) -> Evidence:  # noqa: ANN401 - the student's dataset
    try:
        return {"value": dataset[index]}
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)}


def judge(truth: Truth, found: Evidence) -> str:
    """Check laziness, samples, transform calls, and negative and out-of-range indices."""
    numbers = truth["numbers"]
    expected = [number * truth["factor"] for number in numbers]
    _judge_laziness(found)
    if found["length"] != len(numbers):
        raise Mistake(
            "wrong_length", f"len(dataset) is {found['length']} for a collection of {len(numbers)} items."
        )
    if found["samples"] != expected or any(kind != expected for kind in found["kinds"]):
        raise Mistake(
            "wrong_samples",
            "dataset[i] must be transform(items[i]): apply the transform to the item and return the result.",
        )
    if found["calls"] != numbers or found["again"] != 1:
        raise Mistake(
            "transform_not_once",
            "The transform must run exactly once per access, also when an index is read again: a random "
            "transform should give a new result in every epoch. Do not cache results or call it twice.",
        )
    if [one.get("value") for one in found["plain"]] != numbers:
        raise Mistake(
            "no_transform",
            "Without a transform (transform=None), dataset[i] must be the item itself, unchanged.",
        )
    _judge_indices(found, expected)
    return "The dataset is lazy, transforms once per access, and is indexed like Python's own sequences."


def _judge_laziness(found: Evidence) -> None:
    if found["calls_early"]:
        raise Mistake(
            "eager_transform",
            f"The transform ran {found['calls_early']} times while the dataset was created. Keep the items "
            "as they are, and apply the transform in __getitem__, when a sample is read.",
        )
    if found["asked_early"]:
        raise Mistake(
            "reads_everything",
            f"Creating the dataset already read {found['asked_early']} items. Keep the collection itself, "
            "not a copy: its items may be files.",
        )
    if len(found["asked"]) > len(found["samples"]):
        raise Mistake("reads_everything", "Reading one sample must read one item: access only items[index].")


def _judge_indices(found: Evidence, expected: list[int]) -> None:
    if [one.get("value") for one in found["negative"]] != [expected[-1], expected[0]]:
        raise Mistake(
            "negative_index",
            "dataset[-1] must be the last sample and dataset[-len(dataset)] the first. The collection may "
            "not support negative indices: convert them to positive ones before you access it.",
        )
    for one in found["outside"]:
        if "value" in one:
            raise Mistake(
                "no_index_error",
                "An index outside -len(dataset) ... len(dataset)-1 returned a sample. Raise IndexError "
                "instead: it ends a `for` loop over your dataset, and it reveals a wrong index that would "
                "otherwise give a wrong sample.",
            )
        if one["error"] != "IndexError":
            raise Mistake(
                "other_error",
                f"An index out of range raised {one['error']}. Raise IndexError, as Python's sequences do: "
                "it ends a `for` loop over your dataset.",
            )
    if found["loop"] != len(expected):
        raise Mistake(
            "no_index_error", f"A `for` loop over {len(expected)} samples returned {found['loop']}."
        )

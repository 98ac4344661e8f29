"""Check that a dataset is lazy and indexed like a Python sequence."""

import itertools
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import AttemptOf, Inputs, Mistake, Truth, attempt, type_name, value_of
from course_utils.checks.input_pipeline._collections import (
    EMPTY,
    KINDS,
    PLAIN,
    TRANSFORMED,
    Access,
    MinimalCollection,
    Result,
    World,
)
from course_utils.checks.input_pipeline._returned_samples import judge_negative_indices, judge_samples
from course_utils.checks.world.handle import Handle


class Found(TypedDict):
    """The length that each dataset gives, or the type of what is none; of how many samples a loop is."""

    lengths: list[int | str]
    loop: AttemptOf[int | None]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw the length of all collections, the items of the plain ones and the order of the accesses."""
    n = int(rng.integers(6, 12))
    numbers = rng.permutation([0, *rng.choice(np.arange(1, 10_000), n - 1, replace=False)]).tolist()
    every = [(dataset, index) for dataset in range(PLAIN + 1) for index in (*range(n), -1, -n)]
    every += [(dataset, 1) for dataset in TRANSFORMED]
    again = [(dataset, index) for dataset in range(PLAIN + 1) for index in (-1, -n, 1, 1)]
    kinds = [(dataset, index) for dataset in KINDS for index in range(n)]
    outside = [(dataset, index) for dataset in TRANSFORMED for index in (n, n + 3, -n - 1)]
    outside += [(EMPTY, 0), (EMPTY, -1)]
    accesses = [*(every[k] for k in rng.permutation(len(every))), *again, *kinds, *outside]
    truth = {"key": rng.bytes(16), "length": n, "numbers": numbers, "accesses": accesses}
    return {"length": n, "numbers": numbers}, truth


def probe(inputs: Inputs, world: Handle, dataset_class: Callable[..., Any]) -> Found:
    """Index the student's datasets in and out of range, in the order that the world asks for."""
    n, numbers = inputs["length"], inputs["numbers"]
    transforms = [partial(world.transform, number) for number in range(EMPTY + 1)]
    empty = dataset_class(MinimalCollection(world, EMPTY, 0), transforms[EMPTY])
    datasets = [dataset_class(MinimalCollection(world, k, n), transforms[k]) for k in TRANSFORMED]
    datasets.append(dataset_class(MinimalCollection(world, PLAIN, n)))
    datasets += [dataset_class(kind(numbers), transforms[k]) for k, kind in KINDS.items()]
    datasets.append(empty)
    lengths = [_plain(dataset.__len__()) for dataset in datasets]  # len() refuses a negative one
    return {"lengths": lengths, "loop": attempt(lambda: _access_all(world, datasets, n))}


def _plain(length: Any) -> int | str:  # noqa: ANN401 - whatever the student returns
    try:
        return operator.index(length)
    except TypeError:
        return type_name(length)


def _access_all(world: Handle, datasets: list[Any], n: int) -> int | None:
    while (access := world.next_access()) is not None:
        number, index = access
        if 0 <= index < n and number not in (PLAIN, EMPTY):
            world.returned(*_result(datasets[number][index]))
        else:
            world.returned(*_access(datasets[number], index))
    return _loop(datasets[0], n)


def _access(dataset: Any, index: int) -> Result:  # noqa: ANN401 - the student's dataset
    try:
        return _result(dataset[index])
    except Exception as error:
        return Result(error=type(error).__name__)


def _result(value: object) -> Result:
    if isinstance(value, int | np.integer):
        return Result(int(value))
    return Result(kind=type_name(value))


def _loop(dataset: Any, n: int) -> int | None:  # noqa: ANN401 - the student's dataset
    """Return how many samples a `for` loop gets; None where nothing would end it."""
    ends = _access(dataset, n).error == "IndexError"
    return len(list(itertools.islice(dataset, n + 5))) if ends else None


def judge(truth: Truth, evidence: Found, world: World) -> str:
    """Check laziness, samples, transform calls, and negative and out-of-range indices."""
    _judge_laziness(world)
    _judge_lengths(world, evidence["lengths"])
    loop = value_of(evidence["loop"])
    if not world.complete:
        raise Mistake("no_evidence", "The check could not make all its accesses to your dataset.")
    inside = [access for access in world.accesses if _is_inside(world, access)]
    judge_samples(world, [access for access in inside if access.index >= 0])
    judge_negative_indices(world, [access for access in inside if access.index < 0])
    _judge_ends(world, loop)
    return "The dataset is lazy, transforms once per access, and is indexed like Python's own sequences."


def _is_inside(world: World, access: Access) -> bool:
    length = world.length_of(access.dataset)
    return -length <= access.index < length


def _judge_laziness(world: World) -> None:
    if outputs := world.creation.outputs:
        raise Mistake(
            "eager_transform",
            f"The transform ran {len(outputs)} times while the datasets were created. Keep the items "
            "as they are, and apply the transform in __getitem__, when a sample is read.",
        )
    if reads := world.creation.reads:
        raise Mistake(
            "reads_everything",
            f"Creating the datasets already read {len(reads)} items. Keep the collection itself, "
            "not a copy: its items may be files.",
        )
    if any(len(access.reads) > 1 for access in world.accesses):
        raise Mistake("reads_everything", "Reading one sample must read one item: access only items[index].")


def _judge_lengths(world: World, lengths: list[int | str]) -> None:
    if "NoneType" in lengths:
        raise Mistake("wrong_length", "len(dataset) is None: return a number from `__len__`.")
    if others := [length for length in lengths if isinstance(length, str)]:
        raise Mistake("wrong_length", f"`__len__` must return an integer; yours returns a {others[0]}.")
    if len(set(lengths)) == 1:
        raise Mistake(
            "shared_between_datasets",
            f"One of several collections is empty, but len(dataset) is {lengths[0]} for each of their "
            "datasets. Keep items and transform on `self`, not on the class or in global variables.",
        )
    for dataset, length in enumerate(lengths):
        if length != (items := world.length_of(dataset)):
            raise Mistake("wrong_length", f"len(dataset) is {length} for a collection of {items} items.")


def _judge_ends(world: World, loop: int | None) -> None:
    for access in world.accesses:
        if _is_inside(world, access):
            continue
        if not access.error:
            raise Mistake(
                "no_index_error",
                "An index outside -len(dataset) ... len(dataset)-1 returned a sample. Raise IndexError "
                "instead: it ends a `for` loop over your dataset, and it reveals a wrong index that would "
                "otherwise give a wrong sample.",
            )
        if access.error != "IndexError":
            where = " of an empty collection" if access.dataset == EMPTY else ""
            raise Mistake(
                "other_error",
                f"Index {access.index}{where} is out of range, and raised {access.error}. Raise IndexError, "
                "as Python's sequences do: it ends a `for` loop over your dataset.",
            )
    if loop != world.length:
        raise Mistake("no_index_error", f"A `for` loop over {world.length} samples returned {loop}.")

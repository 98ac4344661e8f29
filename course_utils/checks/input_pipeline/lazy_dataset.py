"""Check that a dataset is lazy and indexed like a Python sequence."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.checks.input_pipeline._collections import (
    EMPTY,
    KINDS,
    PLAIN,
    TRANSFORMED,
    Access,
    MinimalCollection,
    World,
)
from course_utils.checks.world import Handle


class Found(TypedDict):
    """The length that each dataset gives, whatever it is, and of how many samples a `for` loop is."""

    lengths: list[int | float | str | None]
    loop: int | None


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw the length of all collections, the items of the plain ones and the order of the accesses."""
    n = int(rng.integers(6, 12))
    numbers = rng.permutation([0, *rng.choice(np.arange(1, 10_000), n - 1, replace=False)]).tolist()
    every = [(dataset, index) for dataset in range(PLAIN + 1) for index in (*range(n), -1, -n)]
    every += [(dataset, 1) for dataset in TRANSFORMED]
    again = [(dataset, index) for dataset in TRANSFORMED for index in (-1, -n)]
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
    lengths = [dataset.__len__() for dataset in datasets]  # len() refuses a negative one
    while (access := world.next_access()) is not None:
        number, index = access
        if 0 <= index < n and number not in (PLAIN, EMPTY):
            world.returned(_number(datasets[number][index]), "")
        else:
            world.returned(*_access(datasets[number], index))
    return {"lengths": lengths, "loop": _loop(datasets[0], n)}


def _access(dataset: Any, index: int) -> tuple[int | None, str]:  # noqa: ANN401 - the student's dataset
    try:
        return _number(dataset[index]), ""
    except Exception as error:
        return None, type(error).__name__


def _number(value: object) -> int | None:
    return int(value) if isinstance(value, int | np.integer) else None


def _loop(dataset: Any, n: int) -> int | None:  # noqa: ANN401 - the student's dataset
    """Return how many samples a `for` loop gets; None where nothing would end it."""
    _, error = _access(dataset, n)
    return len(list(itertools.islice(dataset, n + 5))) if error == "IndexError" else None


def judge(truth: Truth, found: Evidence, world: World) -> str:
    """Check laziness, samples, transform calls, and negative and out-of-range indices."""
    if not world.complete:
        raise Mistake("no_evidence", "The check could not make all its accesses to your dataset.")
    inside = [access for access in world.accesses if _is_inside(world, access)]
    positive = [access for access in inside if access.index >= 0]
    _judge_laziness(world)
    _judge_sharing(world, positive)
    for dataset, length in enumerate(found["lengths"]):
        if length != (items := world.length_of(dataset)):
            raise Mistake("wrong_length", f"len(dataset) is {length} for a collection of {items} items.")
    _judge_samples(world, positive)
    _judge_negative_indices(world, [access for access in inside if access.index < 0])
    _judge_ends(world, found["loop"])
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


def _judge_sharing(world: World, accesses: list[Access]) -> None:
    transformed = [access for access in accesses if access.dataset != PLAIN]
    sources = [(access.dataset, world.source(access.value)) for access in transformed]
    # 0 is an item of each collection, too.
    if any(source and source.value and source.dataset != dataset for dataset, source in sources):
        raise Mistake(
            "shared_between_datasets",
            "One of several datasets returned a sample of another. Keep items and transform on `self`, not "
            "on the class or in global variables.",
        )


def _judge_samples(world: World, accesses: list[Access]) -> None:
    plain = [access for access in accesses if access.dataset == PLAIN]
    transformed = [access for access in accesses if access.dataset != PLAIN]
    wrong_plain = [access for access in plain if access.value != world.item_of(access)]
    sources = [(access, world.source(access.value)) for access in transformed]
    wrong = [access for access, source in sources if not source or source.item != world.item_of(access)]
    if wrong + wrong_plain and all(_involves_zero(world, access) for access in wrong + wrong_plain):
        raise Mistake(
            "zero_taken_for_none",
            "Only samples whose item or result is 0 are wrong. Code such as `if item` or `item or ...` takes "
            "0 for a missing value: ask `is None`.",
        )
    if wrong:
        raise Mistake(
            "wrong_samples",
            "dataset[i] must be transform(items[i]): apply the transform to the item and return the result.",
        )
    _expect_transformed_once(transformed)
    if wrong_plain:
        raise Mistake(
            "no_transform",
            "Without a transform (transform=None), dataset[i] must be the item itself, unchanged.",
        )


def _expect_transformed_once(accesses: list[Access]) -> None:
    if any([output.value for output in access.outputs] != [access.value] for access in accesses):
        raise Mistake(
            "transform_not_once",
            "The transform must run exactly once per access, also when an index is read again: a random "
            "transform should give a new result in every epoch. Do not cache results or call it twice.",
        )


def _involves_zero(world: World, access: Access) -> bool:
    return 0 in (world.item_of(access), *(output.value for output in access.outputs))


def _judge_negative_indices(world: World, accesses: list[Access]) -> None:
    for access in accesses:
        source = world.source(access.value)
        found = access.value if access.dataset == PLAIN else source and source.item
        if found != world.item_of(access):
            raise Mistake(
                "negative_index",
                "dataset[-1] must be the last sample and dataset[-len(dataset)] the first. The collection "
                "may not support negative indices: convert them to positive ones before you access it.",
            )
    _expect_transformed_once([access for access in accesses if access.dataset != PLAIN])


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

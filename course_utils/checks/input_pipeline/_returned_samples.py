"""The verdict on what a dataset returned for the indices in range."""

from course_utils.checks.core import Mistake
from course_utils.checks.input_pipeline._collections import EMPTY, PLAIN, Access, World


def judge_samples(world: World, accesses: list[Access]) -> None:
    """Check the samples of indices from 0 on, and that each was read and transformed once."""
    wrong = [access for access in accesses if not _is_right(world, access)]
    if wrong and all(_involves_zero(world, access) for access in wrong):
        raise Mistake(
            "zero_taken_for_none",
            "Only samples whose item or result is 0 are wrong. Code such as `if item` or `item or ...` takes "
            "0 for a missing value: ask `is None`.",
        )
    # 0 is an item of each collection, and an index: it says least about the cause.
    wrong.sort(
        key=lambda access: (access.dataset == PLAIN, not access.index or _involves_zero(world, access))
    )
    transformed = [access for access in accesses if access.dataset != PLAIN]
    if wrong and wrong[0].dataset == PLAIN:
        _expect_transformed_once(transformed)
    if wrong:
        raise _mistake(world, wrong[0])
    _expect_transformed_once(transformed)
    _expect_read(world, accesses)


def judge_negative_indices(world: World, accesses: list[Access]) -> None:
    """Check the samples of negative indices, and that each was read and transformed once."""
    if not all(_is_right(world, access) for access in accesses):
        raise Mistake(
            "negative_index",
            "dataset[-1] must be the last sample and dataset[-len(dataset)] the first. The collection "
            "may not support negative indices: convert them to positive ones before you access it.",
        )
    _expect_transformed_once([access for access in accesses if access.dataset != PLAIN])
    _expect_read(world, accesses)


def _is_right(world: World, access: Access) -> bool:
    source = world.source(access.value)
    shown = access.value if access.dataset == PLAIN else source and source.item
    return shown == world.item_of(access)


def _involves_zero(world: World, access: Access) -> bool:
    return 0 in (world.item_of(access), *(output.value for output in access.outputs))


def _mistake(world: World, access: Access) -> Mistake:
    """Return what is wrong with the sample that an access returned."""
    source = world.source(access.value)
    item = source.item if source else access.value
    if access.error:
        message = "Without a transform (transform=None), dataset[i] must be the item itself, unchanged; "
        return Mistake("no_transform", message + f"dataset[{access.index}] raised {access.error}.")
    if item is None:
        return _wrong_kind(access)
    if source and item == access.index:
        return Mistake(
            "wrong_samples",
            f"For dataset[{access.index}] your code called transform({item}), which is the index: dataset[i] "
            "must be transform(items[i]).",
        )
    if (source and source.dataset != access.dataset) or _is_of_another_dataset(world, access, item):
        return Mistake(
            "shared_between_datasets",
            "One of several datasets returned a sample of another. Keep items and transform on `self`, not "
            "on the class or in global variables.",
        )
    if (source or access.dataset == PLAIN) and item in world.items(access.dataset):
        right, index = ("items[i]" if access.dataset == PLAIN else "transform(items[i])"), access.index
        message = f"dataset[{index}] came from items[{world.items(access.dataset).index(item)}]: "
        return Mistake("wrong_item", message + f"dataset[i] must be {right}, in the order of the collection.")
    if access.dataset == PLAIN:
        message = "Without a transform (transform=None), dataset[i] must be the item itself, unchanged."
        return Mistake("no_transform", message)
    if source:
        return Mistake(
            "wrong_samples",
            f"For dataset[{access.index}] your code called transform({item}), which is no item of the "
            "collection: dataset[i] must be transform(items[i]).",
        )
    done = "your code did not call it" if not access.outputs else "your code called it, and returned another"
    return Mistake(
        "wrong_samples",
        f"dataset[i] must be what transform(items[i]) returns; for dataset[{access.index}] {done}.",
    )


def _wrong_kind(access: Access) -> Mistake:
    where = f"dataset[{access.index}]"
    if access.kind == "generator":
        return Mistake(
            "returns_generator",
            f"{where} is a generator: a function that contains `yield` returns one, and computes nothing "
            "until somebody iterates over it. Use `return` in __getitem__.",
        )
    if access.kind == "NoneType":
        message = f"{where} is None. Return the sample: every way through __getitem__ ends in a `return`."
        return Mistake("returns_none", message)
    right = "the item itself" if access.dataset == PLAIN else "what the transform returned"
    message = f"{where} is of type {access.kind}; it must be {right}, which is an int here, and nothing else."
    return Mistake("returns_another_type", message)


def _is_of_another_dataset(world: World, access: Access, item: int) -> bool:
    others = set(range(EMPTY)) - {access.dataset}
    return item not in world.items(access.dataset) and any(item in world.items(other) for other in others)


def _expect_transformed_once(accesses: list[Access]) -> None:
    if any([output.value for output in access.outputs] != [access.value] for access in accesses):
        raise Mistake(
            "transform_not_once",
            "The transform must run exactly once per access, also when an index is read again: a random "
            "transform should give a new result in every epoch. Do not cache results or call it twice.",
        )


def _expect_read(world: World, accesses: list[Access]) -> None:
    if any(not access.reads for access in accesses if world.serves_items(access.dataset)):
        raise Mistake(
            "keeps_items",
            "When a sample was read again, your dataset did not read its item again, but returned one that "
            "it had kept. Read items[i] in each access: all items together may not fit into memory.",
        )

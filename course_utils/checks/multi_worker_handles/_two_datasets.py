"""The verdict on two datasets that are read in turn, and must share nothing."""

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypedDict, TypeVar
from weakref import WeakSet

import numpy as np

from course_utils.checks import core
from course_utils.system import in_child, waiting_child

mistake = core.Messages(__name__)

T = TypeVar("T")
_READABLE = WeakSet[Callable[..., Any]]()  # of which a check has read datasets, in this notebook
_ADVICE = (
    "Keep everything on `self`, not on the class or in the module, or add the path to the key of a table."
)


class Together(TypedDict, Generic[T], total=False):
    """What reading two datasets in turn led to: a value, or an error and whether each alone can be read."""

    value: T
    error: str
    alone: bool


def read_together(
    read: Callable[[], object], alone: Sequence[Callable[[], object]], dataset_class: Callable[..., Any]
) -> Together[Any]:
    """Read both datasets in turn; where that fails, read each in a process where there is no other.

    What a class shares may hold datasets of an earlier check in the same notebook: then not even one alone
    can be read, and what counts is whether it could be, once.
    """
    with waiting_child(partial(_can_be_read, alone)) as ask:  # forked now: it knows nothing of later datasets
        attempted: Together[Any] = core.attempt(read)  # type: ignore[assignment]
        is_readable = "error" not in attempted or ask(b"!") or dataset_class in _READABLE
    if is_readable:
        with contextlib.suppress(TypeError):  # of what takes no weak references
            _READABLE.add(dataset_class)
    if "error" in attempted:
        attempted["alone"] = is_readable
    return attempted


def _can_be_read(alone: Sequence[Callable[[], object]], wait: Callable[[], bytes]) -> bool:
    return bool(wait()) and all("value" in core.attempt(partial(in_child, read)) for read in alone)


def value_together(attempted: Together[T], packs: dict[str, core.Truth]) -> T:
    """Return what was read.

    Raises:
        Mistake: The student's code raised an exception, perhaps because two datasets share something.
    """
    error, members = attempted.get("error", ""), [name for pack in packs.values() for name in pack["members"]]
    if attempted.get("alone") and any(f"'{name}'" in error for name in members):
        raise mistake("shared_between_datasets.names", error=error)
    value: T = core.value_of(attempted)
    return value


def expect_lengths(found: dict[str, int], packs: dict[str, core.Truth]) -> None:
    """Compare the lengths of the datasets with the numbers of images."""
    counts = {name: len(pack["members"]) for name, pack in packs.items()}
    for name in (name for name in counts if found[name] != counts[name]):
        is_other = len({*found.values()}) == 1 and found[name] in counts.values()
        mistakes = {"shared_between_datasets.length": is_other, "wrong_length": True}
        mistake.raise_first(mistakes, length=found[name], name=name, count=counts[name])


def expect_no_other_images(samples: list[core.SampleRecord], own: core.Truth, packs: core.Truth) -> None:
    """Check that a dataset returned no images of the other one."""
    others = [data for pack in packs.values() if pack is not own for data in pack["members"].values()]
    images = [core.decode_rgb(data) for data in others]
    if any(_shows(sample["array"], image) for sample in samples for image in images):
        raise mistake("shared_between_datasets.image")


def expect_images(
    samples: list[core.SampleRecord],
    order: list[int],
    pack: core.Truth,
    where: str,
    lost: core.Mistake | None,
) -> None:
    """Check samples that were read in an order; where they should be mirrored, `lost` says that none is."""
    mirrored: list[core.SampleRecord] = [
        {**sample, "array": None if sample["array"] is None else sample["array"][..., ::-1]}
        for sample in samples
    ]
    try:
        core.expect_samples(mirrored if lost else samples, order, pack, where)
    except core.Mistake as wrong:
        as_they_are = core.attempt(lambda: core.expect_samples(samples, order, pack, where))
        if lost and wrong.name == "other_pixels" and "value" in as_they_are:
            raise lost from None
        raise


def _shows(array: np.ndarray | None, image: np.ndarray) -> bool:
    return array is not None and (core.look_alike(array, image) or core.look_alike(array, image[..., ::-1]))

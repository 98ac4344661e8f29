"""The verdict on two datasets that are read in turn, and must share nothing."""

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypedDict, TypeVar
from weakref import WeakSet

import numpy as np

from course_utils.checks.core import Mistake, SampleRecord, Truth, attempt, decode_rgb, look_alike, value_of
from course_utils.system import in_child, waiting_child

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
        attempted: Together[Any] = attempt(read)  # type: ignore[assignment]
        is_readable = "error" not in attempted or ask(b"!") or dataset_class in _READABLE
    if is_readable:
        with contextlib.suppress(TypeError):  # of what takes no weak references
            _READABLE.add(dataset_class)
    if "error" in attempted:
        attempted["alone"] = is_readable
    return attempted


def _can_be_read(alone: Sequence[Callable[[], object]], wait: Callable[[], bytes]) -> bool:
    return bool(wait()) and all("value" in attempt(partial(in_child, read)) for read in alone)


def value_together(attempted: Together[T], packs: dict[str, Truth]) -> T:
    """Return what was read.

    Raises:
        Mistake: The student's code raised an exception, perhaps because two datasets share something.
    """
    error, members = attempted.get("error", ""), [name for pack in packs.values() for name in pack["members"]]
    if attempted.get("alone") and any(f"'{name}'" in error for name in members):
        raise Mistake(
            "shared_between_datasets",
            "Two datasets were read in turn, and one looked for an image among those of the other: they "
            f"share names, handles or labels. {_ADVICE} The error was: {error}",
        )
    value: T = value_of(attempted)
    return value


def expect_lengths(found: dict[str, int], packs: dict[str, Truth]) -> None:
    """Compare the lengths of the datasets with the numbers of images."""
    counts = {name: len(pack["members"]) for name, pack in packs.items()}
    for name, count in counts.items():
        if found[name] == count:
            continue
        message = f"len(dataset) is {found[name]}; {name} has {count} images."
        if len({*found.values()}) == 1 and found[name] in counts.values():
            message = f"{message[:-1]}, and the other dataset as many as that. {_ADVICE}"
            raise Mistake("shared_between_datasets", message)
        raise Mistake("wrong_length", message)


def expect_no_other_images(samples: list[SampleRecord], own: Truth, packs: dict[str, Truth]) -> None:
    """Check that a dataset returned no images of the other one."""
    others = [
        decode_rgb(data) for pack in packs.values() if pack is not own for data in pack["members"].values()
    ]
    if any(_shows(sample["array"], image) for sample in samples for image in others):
        message = f"One of two datasets, which were read in turn, returned an image of the other. {_ADVICE}"
        raise Mistake("shared_between_datasets", message)


def _shows(array: np.ndarray | None, image: np.ndarray) -> bool:
    return array is not None and (look_alike(array, image) or look_alike(array, image[..., ::-1]))

"""Helpers for probes: run a student's code, describe what it returned, lay out files for it."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar

import numpy as np
import torch

from course_utils.checks.core import environment
from course_utils.checks.core.check import Mistake, crash_report, mistake_of_crash
from course_utils.checks.core.file_events import FileActivity, FileEvent
from course_utils.checks.core.file_recorder import MAX_EVENTS

T = TypeVar("T")


class Attempt(TypedDict, total=False):
    """What one step of a student's code led to: either a value or an error in one line."""

    value: Any
    error: str


class AttemptOf(TypedDict, Generic[T], total=False):
    """An `Attempt` whose value has a type; what a probe declares to return."""

    value: T
    error: str


class ImageRecord(TypedDict):
    """An image as plain data: the name of its type, and its numbers if it has any."""

    kind: str
    array: np.ndarray | None


def attempt(action: Callable[[], object]) -> Attempt:
    """Run one step of a student's code, and catch its exception.

    Returns:
        ``{"value": what it returned}``, or ``{"error": one line}`` if it raised an exception.
    """
    try:
        return {"value": action()}
    except Exception as error:
        return {"error": crash_report(error)}


def value_of(attempted: Attempt) -> Any:  # noqa: ANN401 - plain data
    """Return the value of a successful attempt.

    Raises:
        Mistake: The attempt raised an exception.
    """
    error = attempted.get("error")
    if error is None:
        return attempted["value"]
    raise mistake_of_crash(error)


def plain_tensor(value: object) -> object:
    """Return a tensor as a `torch.Tensor`, whatever methods its subclass has; anything else as it is."""
    if not issubclass(type(value), torch.Tensor):
        return value
    with torch._C.DisableTorchFunctionSubclass():
        return torch.Tensor.as_subclass(value, torch.Tensor)  # type: ignore[arg-type]


def record_image(image: object) -> ImageRecord:
    """Describe an image by the name of its type and, for a tensor or an array, its numbers."""
    plain = plain_tensor(image)
    array = plain.detach().cpu().numpy() if isinstance(plain, torch.Tensor) else image
    numbers = array if isinstance(array, np.ndarray) and array.dtype != object else None
    return {"kind": type_name(image), "array": numbers}


def type_name(value: object) -> str:
    """Return the name of a value's type, "Tensor" for every subclass of torch.Tensor."""
    return "Tensor" if issubclass(type(value), torch.Tensor) else type(value).__name__


@contextlib.contextmanager
def folder_with(files: dict[str, bytes], read_only: bool = False) -> Iterator[Path]:
    """Provide a temporary folder with these files, and restore the working directory afterwards.

    Args:
        files: Contents by name; a name may contain a subfolder.
        read_only: Whether nobody may change the folder.
    """
    with environment.tempfile.TemporaryDirectory() as folder, contextlib.chdir("."):
        for name, data in files.items():
            target = Path(folder) / name
            target.parent.mkdir(exist_ok=True, parents=True)
            target.write_bytes(data)
        if read_only:
            for place in (Path(folder), *Path(folder).glob("**/")):
                place.chmod(0o555)  # cleaning up makes it writable again
        yield Path(folder)


def activity_of(files: list[FileEvent]) -> FileActivity:
    """Return what was recorded, to ask questions about it.

    Raises:
        Mistake: There are too many events.
    """
    if len(files) >= MAX_EVENTS:
        message = "Your code used the files of the check far too often. Is there an endless loop?"
        raise Mistake("too_many_operations", message)
    return FileActivity(files)


@contextlib.contextmanager
def ignore_warnings() -> Iterator[None]:
    """Suppress warnings of a student's code: one on standard error would cost all points of the cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield

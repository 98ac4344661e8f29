"""What probes share: try a student's code, describe what it returned, lay out files for it."""

import contextlib
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course_utils.checks.core.check import Mistake, crash_report

Seen = dict[str, Any]


def attempt(action: Callable[[], object]) -> Seen:
    """Run one step of a student's code.

    Returns:
        ``{"value": what it returned}``, or ``{"error": one line}`` if it raised an exception.
    """
    try:
        return {"value": action()}
    except Exception as error:
        return {"error": crash_report(error)}


def outcome(seen: Seen) -> Any:  # noqa: ANN401 - plain data
    """What an attempt returned.

    Raises:
        Mistake: It raised an exception.
    """
    if seen.get("error", "").startswith("NotImplementedError"):
        told = "This is not written yet: put your code in the place of `raise NotImplementedError()`."
        raise Mistake("not_written_yet", told)
    if "error" in seen:
        raise Mistake("crash", f"Your code stopped with an error: {seen['error']}")
    return seen["value"]


def seen_image(image: object) -> Seen:
    """Describe an image: the name of its type and, for a tensor or an array, its numbers."""
    array = image.detach().cpu().numpy() if isinstance(image, torch.Tensor) else image
    numbers = array if isinstance(array, np.ndarray) and array.dtype != object else None
    return {"kind": kind_of(image), "array": numbers}


def kind_of(value: object) -> str:
    """The name of a value's type; "Tensor" for all kinds of tensors, torchvision's among them."""
    return "Tensor" if isinstance(value, torch.Tensor) else type(value).__name__


@contextlib.contextmanager
def folder_of(files: dict[str, bytes] | str) -> Iterator[Path]:
    """A temporary folder with these files; names may hold a subfolder. The working directory stays.

    When grading, the files may be laid out already; then `files` is the name of their folder.
    """
    if isinstance(files, str):
        with contextlib.chdir("."):
            yield Path(files)
        return
    with tempfile.TemporaryDirectory() as made, contextlib.chdir("."):
        for name, data in files.items():
            target = Path(made) / name
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(data)
        yield Path(made)


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """Keep a student's warnings from standard error, where one would cost all points of a graded cell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield

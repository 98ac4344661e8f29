"""Check that a worker can read a million labels without copying their memory.

A forked process reads them and says what it copied meanwhile; of the labels themselves, what counts is of how
many Python objects they consist.
"""

import gc
import types
from collections.abc import Callable
from typing import Any, NotRequired, TypedDict

import numpy as np
import torch

from course_utils.checks.core import (
    AttemptOf,
    Inputs,
    Mistake,
    Truth,
    attempt,
    folder_with,
    ignore_warnings,
    value_of,
)
from course_utils.checks.multi_worker_handles._read_labels import (
    STRIDE,
    LabelsRead,
    expect_quick,
    places,
    read,
    read_in_child,
    same_labels,
)
from course_utils.system import NotMeasurableError, dirtied_bytes

FILE, FEW = "labels.txt", "few.txt"
COUNT = 1_000_000
FEW_COUNT = 1_000
CLASSES = 21_841  # ImageNet-21k
MAX_DIRTIED_BYTES = 2**20
MAX_OBJECTS = 0.25  # per label
FORKS = 3
ROUNDING_TYPES = (torch.float16, torch.bfloat16)


class Measured(TypedDict):
    """What was measured of labels that can be read.

    Attributes:
        values: Every `STRIDE`-th label.
        dirtied: Bytes that reading copied into a forked process, as it measured itself; None if unknown.
        objects: Number of Python objects of which the labels consist, as far as they were counted.
        object_array: Whether an array of objects is among them.
    """

    values: np.ndarray
    dirtied: int | None
    objects: int
    object_array: bool


class Reads(TypedDict):
    """What the probe found.

    Attributes:
        first: The labels as read in a forked process.
        few: All labels of a second, smaller file, which was loaded then.
        again: The labels of the first file as read in another forked process afterwards.
        measured: What was measured of the first labels, if they were the same again.
    """

    first: AttemptOf[LabelsRead]
    few: NotRequired[AttemptOf[np.ndarray]]
    again: NotRequired[AttemptOf[LabelsRead]]
    measured: NotRequired[Measured]


def make(rng: np.random.Generator, count: int = COUNT) -> tuple[Inputs, Truth]:
    """Draw a million labels, a second file, and the place from which every `STRIDE`-th label is read."""
    labels, few = rng.integers(0, CLASSES, count), rng.integers(0, CLASSES, FEW_COUNT)
    start = int(rng.integers(STRIDE))
    labels[start] = 0
    files = {FILE: _text(labels), FEW: _text(few)}
    truth = {"values": labels[start::STRIDE], "few": few, "count": count}
    return {"files": files, "start": start, "count": count}, truth


def _text(labels: np.ndarray) -> bytes:
    return ("\n".join(map(str, labels.tolist())) + "\n").encode()


def probe(inputs: Inputs, load_labels: Callable[..., Any]) -> Reads:
    """Load two files, and measure how much memory reading the labels of the large one copies in a fork."""
    with folder_with(inputs["files"]) as folder, ignore_warnings():
        labels = load_labels(folder / FILE)
        start, count = inputs["start"], inputs["count"]
        found: Reads = {"first": read_in_child(labels, start, count)}
        if not found["first"].get("value", {}).get("complete"):
            return found
        few = load_labels(folder / FEW)  # also allocates what only the first use of the code allocates
        found["few"] = attempt(lambda: read(few, range(min(len(few), FEW_COUNT))))
        found["again"] = read_in_child(labels, start, count)
        if "value" in found["few"] and same_labels(found["first"], found["again"]):
            found["measured"] = _measure(labels, start, count)
        return found


def _measure(labels: Any, start: int, count: int) -> Measured:  # noqa: ANN401 - the student's labels
    dirtied = _copied(labels, start, count)
    objects, object_array = _count_objects(labels, count)
    return {
        "values": _read_all(labels, start, count),
        "dirtied": dirtied,
        "objects": objects,
        "object_array": object_array,
    }


def _read_all(labels: Any, start: int, count: int) -> np.ndarray:  # noqa: ANN401 - the student's labels
    return read(labels, places(labels, start, count))


def _copied(labels: Any, start: int, count: int) -> int | None:  # noqa: ANN401 - the student's labels
    # The median of several forks: another thread of this process that writes meanwhile can distort one.
    try:
        return sorted(dirtied_bytes(_read_all, labels, start, count) for _ in range(FORKS))[FORKS // 2]
    except NotMeasurableError:
        return None


def _count_objects(labels: Any, count: int) -> tuple[int, bool]:  # noqa: ANN401 - the student's labels
    """Count the Python objects that the labels consist of, and look for arrays of objects among them."""
    skip = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.FrameType)
    known, fresh, object_array = {id(labels)}, [labels], False
    while fresh and len(known) <= MAX_OBJECTS * count:
        object_array |= any(isinstance(one, np.ndarray) and one.dtype == object for one in fresh)
        reached = {id(one): one for one in gc.get_referents(*fresh) if not isinstance(one, skip)}
        fresh = [one for key, one in reached.items() if key not in known]
        known |= reached.keys()
    return len(known), bool(object_array)


def judge(truth: Truth, evidence: Reads) -> str:
    """Check the labels, how much memory a worker copies to read them, and which objects are the cause."""
    count = truth["count"]
    first = expect_quick(evidence["first"], count)
    if first["length"] != count:
        raise Mistake("wrong_length", f"len(labels) is {first['length']:,}; the file has {count:,} lines.")
    _expect_labels(first["values"], truth["values"])
    _expect_own_labels(evidence, truth["few"])
    measured = evidence["measured"]
    _expect_labels(measured["values"], truth["values"])
    copied = f"reading the labels copied {(measured['dirtied'] or 0) / 2**20:.1f} MiB into the worker"
    if measured["object_array"]:
        raise Mistake(
            "object_array",
            f"The labels are an array of Python objects: {copied}. Reading an object changes its reference "
            "count, so the memory page that holds it is copied. Give the array a numeric dtype.",
        )
    if measured["objects"] > MAX_OBJECTS * count:
        raise Mistake(
            "python_objects",
            f"The labels consist of very many Python objects: {copied}. Reading an object changes its "
            "reference count, so the memory page that holds it is copied. Keep the numbers themselves, in "
            "one contiguous block.",
        )
    _expect_no_copies(measured["dirtied"])
    return "The labels are in one block of memory, which workers read without copying it."


def _expect_own_labels(found: Reads, few: np.ndarray) -> None:
    """Check the labels of a second file, and that loading it has not changed those of the first."""
    after = "After a second, smaller file had been loaded, "
    advice = (
        "Return a new object each time, with labels of its own: do not keep them in the module or the class."
    )
    if "SIGBUS" in found["again"].get("error", ""):  # the file that they are mapped from became shorter
        raise Mistake(
            "labels_of_another_file",
            "The second call overwrote the file that the labels of the first are mapped from: write one file "
            "for each call, or keep the array in memory.",
        )
    if not same_labels(found["first"], found["again"]):
        raise Mistake(
            "labels_of_another_file", f"{after}the labels of the first file were no longer the same. {advice}"
        )
    if not np.array_equal(value_of(found["few"]), few):
        raise Mistake("labels_of_another_file", f"{after}its labels were not those in the file. {advice}")


def _expect_labels(values: np.ndarray, truth: np.ndarray) -> None:
    if values.shape == truth.shape and np.array_equal(values, truth):
        return
    wrong = np.flatnonzero(values != truth)[0] if values.shape == truth.shape else 0
    message = f"A label is {values[wrong]}, but should be {truth[wrong]}. "
    if values[wrong] in (truth[wrong] % 2**8, truth[wrong] % 2**8 - 2**8):
        message += f"There are {CLASSES:,} classes, and a byte has 256 values: use a wider type."
        raise Mistake("type_too_narrow", message)
    if values[wrong] in (int(torch.tensor(truth[wrong], dtype=dtype)) for dtype in ROUNDING_TYPES):
        message += "A floating-point type of 16 bits rounds such numbers: use an integer type."
        raise Mistake("type_too_narrow", message)
    raise Mistake("wrong_labels", message + "Item i is the label in line i of the file, counted from 0.")


def _expect_no_copies(copied: int | None) -> None:
    if copied is not None and copied > MAX_DIRTIED_BYTES:
        raise Mistake(
            "copy_per_worker",
            f"In a forked worker, reading the labels copied {copied / 2**20:.1f} MiB. Either they are loaded "
            "or converted there: do that in load_labels, before any worker starts. Or each label is a Python "
            "object: its reference count changes when it is read. Keep the numbers in one block of memory.",
        )

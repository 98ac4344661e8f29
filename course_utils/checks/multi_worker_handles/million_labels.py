"""Check that a worker can read a million labels without copying their memory."""

import gc
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, folder_with, ignore_warnings
from course_utils.system import NotMeasurableError, dirtied_bytes

FILE = "labels.txt"
COUNT = 1_000_000
CLASSES = 21_841  # ImageNet-21k
STRIDE = 61  # touches every page of memory: a Python integer takes 32 bytes, a page has 4,096
MAX_DIRTIED_BYTES = 2**20
MAX_OBJECTS = COUNT // 4
FORKS = 3


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a million labels, and the index from which every `STRIDE`-th of them is read."""
    labels = rng.integers(0, CLASSES, COUNT)
    start = int(rng.integers(STRIDE))
    text = "\n".join(map(str, labels.tolist())) + "\n"
    return {"files": {FILE: text.encode()}, "start": start}, labels[start::STRIDE]


def probe(inputs: Inputs, load_labels: Callable[..., Any]) -> Evidence:
    """Load the labels, and measure how much memory reading them in a forked process copies."""
    with folder_with(inputs["files"]) as folder, ignore_warnings():
        labels = load_labels(folder / FILE)
        _warm_up(load_labels, folder)
        found = {"length": len(labels), "dirtied": _copied(labels, inputs["start"])}
        return {**found, **_count_objects(labels), **_read_all(labels, inputs["start"])}


def _warm_up(load_labels: Callable[..., Any], folder: Path) -> None:
    """Run the code once on a small file, so that memory allocated on first use is not counted."""
    few = folder / "few.txt"
    few.write_text("1\n2\n3\n")
    int(load_labels(few)[1])


def _read_all(labels: Any, start: int) -> Evidence:  # noqa: ANN401 - the student's labels
    """Read labels on every page of memory that they take, up to the number of labels that there are."""
    places = range(start, min(len(labels), COUNT), STRIDE)
    return {"values": np.fromiter((int(labels[place]) for place in places), np.int64)}


def _copied(labels: Any, start: int) -> int | None:  # noqa: ANN401 - the student's labels
    # The median of several forks: another thread of this process that writes meanwhile can distort one.
    try:
        return sorted(dirtied_bytes(_read_all, labels, start) for _ in range(FORKS))[FORKS // 2]
    except NotMeasurableError:
        return None


def _count_objects(labels: Any) -> Evidence:  # noqa: ANN401 - the student's labels
    """Count the Python objects that the labels consist of, and look for arrays of objects among them."""
    skip = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.FrameType)
    known, fresh, object_array = {id(labels)}, [labels], False
    while fresh and len(known) <= MAX_OBJECTS:
        object_array |= any(isinstance(one, np.ndarray) and one.dtype == object for one in fresh)
        reached = {id(one): one for one in gc.get_referents(*fresh) if not isinstance(one, skip)}
        fresh = [one for key, one in reached.items() if key not in known]
        known |= reached.keys()
    return {"objects": len(known), "object_array": bool(object_array)}


def judge(truth: Truth, found: Evidence) -> str:
    """Check the labels, how much memory a worker copies to read them, and which objects are the cause."""
    if found["length"] != COUNT:
        raise Mistake("wrong_length", f"len(labels) is {found['length']:,}; the file has {COUNT:,} lines.")
    if not np.array_equal(found["values"], truth):
        wrong = int(np.flatnonzero(found["values"] != truth)[0])
        raise Mistake(
            "wrong_labels",
            f"A label is {found['values'][wrong]}, but should be {truth[wrong]}. Is the type wide enough? "
            f"There are {CLASSES:,} classes, and a byte has 256 values.",
        )
    copied = f"reading the labels copied {(found['dirtied'] or 0) / 2**20:.1f} MiB into the worker"
    if found["object_array"]:
        raise Mistake(
            "object_array",
            f"The labels are an array of Python objects: {copied}. Reading an object changes its reference "
            "count, so the memory page that holds it is copied. Give the array a numeric dtype.",
        )
    if found["objects"] > MAX_OBJECTS:
        raise Mistake(
            "python_objects",
            f"The labels consist of very many Python objects: {copied}. Reading an object changes its "
            "reference count, so the memory page that holds it is copied. Keep the numbers themselves, in "
            "one contiguous block.",
        )
    if found["dirtied"] is not None and found["dirtied"] > MAX_DIRTIED_BYTES:
        raise Mistake(
            "copy_per_worker",
            f"In a forked worker, {copied}. Whatever is loaded or converted there exists once per worker: "
            "do it when the labels are loaded, before any worker starts.",
        )
    return "The labels are in one block of memory, which workers read without copying it."

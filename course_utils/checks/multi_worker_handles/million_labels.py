"""Lesson 02: do a million labels stay where they are when a worker reads them?"""

import gc
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, folder_of, no_warnings
from course_utils.system import NotMeasurableError, dirtied_bytes

FILE = "labels.txt"
COUNT = 1_000_000
CLASSES = 21_841  # ImageNet-21k
STRIDE = 61  # touches every page of memory: Python's integers stand 32 bytes apart, a page has 4,096
MOST_DIRTY = 2**20
MOST_OBJECTS = COUNT // 4
FORKS = 3


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a million labels, and the place from which every 61st of them is read."""
    labels = rng.integers(0, CLASSES, COUNT)
    start = int(rng.integers(STRIDE))
    text = "\n".join(map(str, labels.tolist())) + "\n"
    return {"files": {FILE: text.encode()}, "start": start}, labels[start::STRIDE]


def probe(inputs: Inputs, load_labels: Callable[..., Any]) -> Evidence:
    """Load the labels, read them in a forked process and measure the memory that reading copies."""
    with folder_of(inputs["files"]) as folder, no_warnings():
        labels = load_labels(folder / FILE)
        _rehearse(load_labels, folder)
        found = {"length": len(labels), "dirtied": _copied(labels, inputs["start"])}
        return {**found, **_inside(labels), **_read_all(labels, inputs["start"])}


def _rehearse(load_labels: Callable[..., Any], folder: Path) -> None:
    """Use the code once, in small, so that a first use's own memory is not counted."""
    few = folder / "few.txt"
    few.write_text("1\n2\n3\n")
    int(load_labels(few)[1])


def _read_all(labels: Any, start: int) -> Evidence:  # noqa: ANN401 - the student's labels
    """Read labels on every page of memory that they take; if there are too few, those that are there."""
    places = range(start, min(len(labels), COUNT), STRIDE)
    return {"values": np.fromiter((int(labels[place]) for place in places), np.int64)}


def _copied(labels: Any, start: int) -> int | None:  # noqa: ANN401 - the student's labels
    # What another thread of this process writes at that moment can blur one measurement.
    try:
        return sorted(dirtied_bytes(_read_all, labels, start) for _ in range(FORKS))[FORKS // 2]
    except NotMeasurableError:
        return None


def _inside(labels: Any) -> Evidence:  # noqa: ANN401 - the student's labels
    """Count the Python objects that the labels consist of, and look for arrays of objects among them."""
    skip = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.FrameType)
    known, fresh, object_array = {id(labels)}, [labels], False
    while fresh and len(known) <= MOST_OBJECTS:
        object_array |= any(isinstance(one, np.ndarray) and one.dtype == object for one in fresh)
        reached = {id(one): one for one in gc.get_referents(*fresh) if not isinstance(one, skip)}
        fresh = [one for key, one in reached.items() if key not in known]
        known |= reached.keys()
    return {"objects": len(known), "object_array": bool(object_array)}


def judge(truth: Truth, found: Evidence) -> str:
    """Check the labels, then how much memory a worker copies and which objects are the cause."""
    if found["length"] != COUNT:
        raise Mistake("wrong_length", f"len(labels) is {found['length']:,}; the file has {COUNT:,} lines.")
    if not np.array_equal(found["values"], truth):
        wrong = int(np.flatnonzero(found["values"] != truth)[0])
        raise Mistake(
            "wrong_labels",
            f"A label should be {truth[wrong]} and is {found['values'][wrong]}. Is the type wide enough? "
            "There are "
            f"{CLASSES:,} classes, and a byte holds 256 values.",
        )
    copied = f"reading the labels copied {(found['dirtied'] or 0) / 2**20:.1f} MiB into the worker"
    if found["object_array"]:
        raise Mistake(
            "object_array",
            f"The labels are an array of Python objects: {copied}. Each object has a reference count that "
            "reading "
            "changes, so its page is copied. Give the array a number type.",
        )
    if found["objects"] > MOST_OBJECTS:
        raise Mistake(
            "python_objects",
            f"The labels consist of very many Python objects: {copied}. Reading one changes its reference "
            "count, and "
            "so its page of memory is copied. Keep the numbers themselves, side by side, in one block.",
        )
    if found["dirtied"] is not None and found["dirtied"] > MOST_DIRTY:
        raise Mistake(
            "copy_per_worker",
            f"In a forked worker, {copied}. Whatever is loaded or converted there exists once per worker: "
            "do it when "
            "the labels are loaded, before any worker starts.",
        )
    return "a million labels in one block of memory, which workers read without copying it"

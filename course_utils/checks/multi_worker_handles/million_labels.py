"""Check that a worker can read a million labels without copying their memory.

A forked worker learns from a file which labels to read and where to halt, reads them, and names their digest.
It marks all these moments; when grading, the kernel tells how much memory the process has copied by then.
"""

import gc
import hashlib
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import torch

from course_utils.checks.core import (
    MEASURE,
    AttemptOf,
    FileActivity,
    Inputs,
    Mistake,
    Truth,
    Usage,
    attempt,
    environment,
    folder_with,
    ignore_warnings,
    mark,
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
from course_utils.system import NotMeasurableError, dirtied_bytes, in_child

FILE, FEW = "labels.txt", "few.txt"
START, WARM_START = "start", "warm-start"  # files that tell a worker where to start reading and where to halt
STARTED, BEFORE, WARM = f"{MEASURE}started", f"{MEASURE}before", "mark-warm-"
COUNT = 1_000_000
FEW_COUNT = 1_000
CLASSES = 21_841  # ImageNet-21k
MAX_DIRTIED_BYTES = 2**20
# Of the process that loaded the labels: a page that its worker writes becomes its own, too.
MAX_PARENT_BYTES = 2 * MAX_DIRTIED_BYTES
# Of a worker since it was forked, with all that Python itself copies and allocates.
MAX_SINCE_FORK_BYTES = 16 * 2**20
# Of further processes since the check began: room for an interpreter and the numbers, not for a million
# Python objects.
MAX_OTHER_BYTES = 24 * 2**20
# Of sockets and pipes: room for what runs beside the labels.
MAX_QUEUED_BYTES = 2**18
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
    """Draw a million labels, a second file, and the places from which every `STRIDE`-th label is read."""
    labels, few = rng.integers(0, CLASSES, count), rng.integers(0, CLASSES, FEW_COUNT)
    starts = rng.permutation(STRIDE)[: FORKS + 1].tolist()
    labels[starts] = 0
    files = {FILE: _text(labels), FEW: _text(few), WARM_START: b"0 1"}
    halts = rng.integers(1, count // STRIDE, FORKS).tolist()
    files |= {f"{START}{fork}": f"{starts[fork]} {halts[fork]}".encode() for fork in range(FORKS)}
    chosen = [labels[start::STRIDE] for start in starts]
    truth = {"values": chosen[-1], "few": few, "digests": [_digest(values) for values in chosen[:FORKS]]}
    return {"files": files, "start": starts[-1], "count": count}, {**truth, "count": count}


def _text(labels: np.ndarray) -> bytes:
    return ("\n".join(map(str, labels.tolist())) + "\n").encode()


def probe(inputs: Inputs, load_labels: Callable[..., Any]) -> Reads:
    """Load two files, and measure how much memory reading the labels of the large one copies in a fork."""
    with (
        folder_with(inputs["files"]) as folder,
        _writable_copies(folder) as (file, few_file),
        ignore_warnings(),
    ):
        mark(folder, STARTED)
        labels = load_labels(file)
        start, count = inputs["start"], inputs["count"]
        found: Reads = {"first": read_in_child(labels, start, count)}
        if not found["first"].get("value", {}).get("complete"):
            return found
        few = load_labels(few_file)  # also allocates what only the first use of the code allocates
        found["few"] = attempt(lambda: read(few, range(min(len(few), FEW_COUNT))))
        found["again"] = read_in_child(labels, start, count)
        if "value" in found["few"] and same_labels(found["first"], found["again"]):
            found["measured"] = _measure(labels, few, start, count, folder)
        return found


def _measure(
    labels: Any,  # noqa: ANN401 - the student's
    few: Any,  # noqa: ANN401 - the student's
    start: int,
    count: int,
    folder: Path,
) -> Measured:
    dirtied = _copied(labels, start, count)
    for fork in range(FORKS):
        in_child(_read_as_worker, labels, count, few, folder, fork)
    objects, object_array = _count_objects(labels, count)
    return {
        "values": _read_all(labels, start, count),
        "dirtied": dirtied,
        "objects": objects,
        "object_array": object_array,
    }


@contextmanager
def _writable_copies(folder: Path) -> Iterator[list[Path]]:
    """Copy the labels to a folder in which an answer may write."""
    with environment.tempfile.TemporaryDirectory() as copies:
        yield [Path(environment.shutil.copyfile(folder / name, Path(copies) / name)) for name in (FILE, FEW)]


def _read_all(labels: Any, start: int, count: int) -> np.ndarray:  # noqa: ANN401 - the student's labels
    return read(labels, places(labels, start, count))


def _read_as_worker(
    labels: Any,  # noqa: ANN401 - the student's
    count: int,
    few: Any,  # noqa: ANN401 - the student's
    folder: Path,
    fork: int,
) -> None:
    # First what does not count, nor is measured: memory that this code itself allocates on its first use.
    _read_with_halt(few, FEW_COUNT, folder, WARM_START, WARM)
    mark(folder, BEFORE)
    _read_with_halt(labels, count, folder, f"{START}{fork}", MEASURE)


def _read_with_halt(
    labels: Any,  # noqa: ANN401 - the student's
    count: int,
    folder: Path,
    told: str,
    kind: str,
) -> None:
    start, halt = map(int, (folder / told).read_text().split())
    indices = places(labels, start, count)
    first = read(labels, indices[:halt])
    mark(folder, kind + told)
    mark(folder, kind + _digest(np.concatenate([first, read(labels, indices[halt:])])))


def _digest(values: np.ndarray) -> str:
    return hashlib.sha256(values.astype(np.int64).tobytes()).hexdigest()


def _copied(labels: Any, start: int, count: int) -> int | None:  # noqa: ANN401 - the student's labels
    # The median of several forks: another thread of this process that writes meanwhile can distort one.
    try:
        return _median([dirtied_bytes(_read_all, labels, start, count) for _ in range(FORKS)])
    except NotMeasurableError:
        return None


def _median(values: list[int]) -> int:
    return sorted(values)[len(values) // 2]


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


def judge(truth: Truth, found: Reads) -> str:
    """Check the labels, how much memory a worker copies to read them, and which objects are the cause."""
    count = truth["count"]
    first = expect_quick(found["first"], count)
    if first["length"] != count:
        raise Mistake("wrong_length", f"len(labels) is {first['length']:,}; the file has {count:,} lines.")
    _expect_labels(first["values"], truth["values"])
    _expect_own_labels(found, truth["few"])
    measured = found["measured"]
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


def outside(truth: Truth, activity: FileActivity) -> None:
    """Check that forked processes read the right labels, and what each of them copied meanwhile."""
    copied = [_copied_by_fork(activity, fork, truth["digests"][fork]) for fork in range(FORKS)]
    known = [one for one in copied if one is not None]
    if known:
        _expect_no_copies(_median(known))


def _copied_by_fork(activity: FileActivity, fork: int, digest: str) -> int | None:
    """Return what a process has copied since it was told which labels to read, at the halt or the end.

    Raises:
        Mistake: No forked process has read the right labels.
    """
    after = next((event for event in activity.events if event.name == MEASURE + digest), None)
    if (
        after is None
        or after.process == activity.processes()[0]
        or _opener(activity.before(MEASURE + digest), f"{START}{fork}") != after.process
    ):
        raise Mistake(
            "wrong_labels_in_worker",
            "A forked process did not read the labels that the process that loaded them reads. Load them "
            "once, in load_labels, and let an item depend on nothing but its index.",
        )
    worker, started = activity.of(after.process), activity.used_by(STARTED)
    moments = (f"{MEASURE}{START}{fork}", MEASURE + digest)
    copied = [_copied_until(worker, moment, started) for moment in moments]
    return max((one for one in copied if one is not None), default=None)


def _copied_until(worker: FileActivity, moment: str, started: Usage | None) -> int | None:
    """Return what a worker has copied until a mark, and check what it and other processes hold by then."""
    used, total = worker.used_between(BEFORE, moment), worker.used_by(moment)
    if used is None or total is None or started is None:
        return None
    # Workers of a loader that another cell has left open are there from the beginning.
    held = (total.others or 0) - (started.others or 0)
    _expect_little_since_fork(total)
    if (used.parents or 0) > MAX_PARENT_BYTES or held > MAX_OTHER_BYTES:
        raise Mistake(
            "kept_by_another_process",
            "While a worker read labels, another process of your code copied memory, or held far more than a "
            "million numbers take. Let each worker read the numbers itself, in one block of memory.",
        )
    if (queued := (total.queued or 0) - (started.queued or 0)) > MAX_QUEUED_BYTES:
        raise Mistake(
            "kept_in_queues",
            f"While a worker read labels, sockets and pipes of your code held {queued / 2**20:.1f} MiB. Keep "
            "the numbers in one block of memory, from which each worker reads them.",
        )
    return None if used.copied is None else used.copied + max(used.stored or 0, 0)


def _expect_little_since_fork(used: Usage) -> None:
    """Check what a worker has copied or touched since it was forked, also before it was told what to read."""
    if (most := max(used.copied or 0, used.touched or 0)) > MAX_SINCE_FORK_BYTES:
        raise Mistake(
            "copy_per_worker",
            f"Since it was forked, a worker has copied or allocated {most / 2**20:.0f} MiB, to read labels "
            "that were loaded before. Convert them in load_labels, before any worker starts, and let workers "
            "read the numbers where they are.",
        )


def _opener(activity: FileActivity, name: str) -> int | None:
    opens = (event.process for event in activity.events if (event.kind, event.name) == ("open", name))
    return next(opens, None)

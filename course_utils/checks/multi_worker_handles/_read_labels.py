"""Read a student's labels in a forked process, which ends where reading takes far too long."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import AttemptOf, Mistake, attempt, crash_report, value_of
from course_utils.system import ChildDiedError, in_child

STRIDE = 61  # touches every page of memory: a Python integer takes 32 bytes, a page has 4,096
# Seconds of processor time for what takes hundredths of one: no load of the machine changes a verdict.
PATIENCE = 5


class LabelsRead(TypedDict):
    """The length of the labels, and every `STRIDE`-th of them, or fewer if `PATIENCE` was not enough."""

    length: int
    values: np.ndarray
    complete: bool


class _OutOfPatienceError(BaseException):
    pass


def places(labels: Any, start: int, count: int) -> range:  # noqa: ANN401 - the student's labels
    """Return places on every page of memory that labels take, up to the number of labels that there are."""
    return range(start, min(len(labels), count), STRIDE)


def read(labels: Any, indices: range) -> np.ndarray:  # noqa: ANN401 - the student's labels
    """Return the labels at these places, int64 of their shape."""
    return np.fromiter((int(labels[place]) for place in indices), np.int64)


def read_in_child(labels: Any, start: int, count: int) -> AttemptOf[LabelsRead]:  # noqa: ANN401
    """Read labels in a forked process, so that what is loaded only there stays there."""
    try:
        read_there: AttemptOf[LabelsRead] = in_child(attempt, lambda: _read_patiently(labels, start, count))
        return read_there
    except ChildDiedError as error:
        return {"error": crash_report(error)}


def _read_patiently(labels: Any, start: int, count: int) -> LabelsRead:  # noqa: ANN401
    values: list[int] = []
    length, complete = len(labels), False
    try:
        with _limited_patience():
            for place in places(labels, start, count):
                values.append(int(labels[place]))
            complete = True
    except _OutOfPatienceError:
        pass
    return {"length": length, "values": np.array(values, np.int64), "complete": complete}


@contextmanager
def _limited_patience() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _OutOfPatienceError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def expect_quick(attempted: AttemptOf[LabelsRead], count: int) -> LabelsRead:
    """Return labels that were read in time.

    Raises:
        Mistake: The student's code raised an exception or is too slow.
    """
    labels: LabelsRead = value_of(attempted)
    if not labels["complete"]:
        raise Mistake(
            "work_for_each_label",
            f"A worker that reads every {STRIDE}st label had not ended after {PATIENCE} seconds of processor "
            f"time: each access does something for all {count:,} labels, such as splitting the text or going "
            "through the lines of the file. Do that once, in load_labels; let an access take one number.",
        )
    return labels


def same_labels(one: AttemptOf[LabelsRead], other: AttemptOf[LabelsRead]) -> bool:
    """Return whether the same labels were read twice."""
    if "error" in one or "error" in other:
        return False
    first, second = one["value"], other["value"]
    return first["length"] == second["length"] and np.array_equal(first["values"], second["values"])

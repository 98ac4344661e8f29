"""Count how many operations some processes do together; they import the standard library alone."""

import os
import random
import time
from collections.abc import Callable, Sequence
from functools import cache
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.pool import Pool
from typing import Any, NamedTuple

BLOCK = 20_000  # bytes, as a photograph of 256×256 pixels
PATIENCE = 120  # seconds until all processes must have started
_state: dict[str, Any] = {}


class Task(NamedTuple):
    """What processes do together.

    Attributes:
        operation: A name of `OPERATIONS`.
        paths: Files; each process uses its share of them.
        seconds: Repeat that long; 0: once through all files.
    """

    operation: str
    paths: Sequence[str]
    seconds: float


def rates(tasks: Sequence[Task], processes: int) -> list[float]:
    """Do the tasks one after the other, and return the operations per second of all processes together.

    Raises:
        OSError: A file cannot be read.
        threading.BrokenBarrierError: A process did not start.
    """
    context = get_context("spawn")
    with context.Pool(processes, _begin, [context.Barrier(processes)]) as pool:
        return [_rate(pool, task, processes) for task in tasks]


def _rate(pool: Pool, task: Task, processes: int) -> float:
    shares = [task._replace(paths=task.paths[number::processes]) for number in range(processes)]
    counts, begins, ends = zip(*pool.map(_work, shares, chunksize=1), strict=True)
    return float(sum(counts) / (max(ends) - min(begins)))


def _begin(barrier: object) -> None:
    _state["barrier"] = barrier


def _work(task: Task) -> tuple[int, float, float]:
    """Return the number of operations, and when they began and ended."""
    operate, count = OPERATIONS[task.operation], 0
    _state["barrier"].wait(PATIENCE)  # so each process has one share
    begin = now = time.monotonic()
    for path in cycle(task.paths) if task.seconds else task.paths:
        operate(path)
        count += 1
        now = time.monotonic()
        if task.seconds and now - begin >= task.seconds:
            break
    return count, begin, now


def _open(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY))


def _read(path: str) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.read(file, os.fstat(file).st_size)
    finally:
        os.close(file)


def _pread(path: str) -> None:
    file, size = _pack(path)
    os.pread(file, BLOCK, random.randrange(max(size - BLOCK, 1)))


@cache
def _pack(path: str) -> tuple[int, int]:
    """Return a descriptor, which the process keeps until it ends, and the size of the file."""
    file = os.open(path, os.O_RDONLY)
    return file, os.fstat(file).st_size


OPERATIONS: dict[str, Callable[[str], object]] = {
    "open": _open,
    "stat": os.stat,
    "first read of a file": _read,
    "read from a pack": _pread,
}

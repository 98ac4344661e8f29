"""One opened reader, used by several forked processes or by several threads at once.

A fork copies a reader, but not its open files: parent and children share each file's position. A reader that
seeks and then reads may get the bytes at the position to which another process has just moved.
"""

import multiprocessing
import os
import random
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from types import FrameType
from typing import Protocol

import numpy as np

from course_utils.format_trials.outcomes import Outcomes, outcome
from course_utils.formats import RandomAccess, Sample

# After some seeks a worker pauses, as the scheduler might let it. Without that, whether two workers ever meet
# between a seek and a read would depend on the load of the machine.
PAUSES, PAUSE = 0.3, 1e-5  # part of the seeks; seconds
TIMEOUT = 30  # seconds until a process counts as hung
STDERR = 2


class Barrier(Protocol):
    """Lets the workers begin at once."""

    def wait(self) -> int:
        """Wait until all have come."""


def share_by_fork(
    open_reader: Callable[[], RandomAccess],
    samples: Sequence[Sample],
    workers: int = 2,
    reads: int = 200,
    rounds: int = 3,
) -> Outcomes:
    """Open a reader, fork workers that all read random samples from it at the same time, and compare.

    Which read meets another is left to chance, so a round without a failure is repeated.

    Args:
        open_reader: Opens the file, such as ``functools.partial(StoredZip, path)``.
        samples: What was written.
        workers: Number of forked processes.
        reads: Samples that each of them reads in a round.
        rounds: Number of rounds at most; each opens and forks anew.
    """

    def one_round(seed: int) -> Outcomes:
        with closing(open_reader()) as reader:
            barrier = multiprocessing.get_context("fork").Barrier(workers)
            return _fork(
                lambda worker: _read(reader, samples, reads, barrier, (seed, worker)), workers, reads
            )

    return _until_failure(one_round, rounds)


def share_by_threads(
    open_reader: Callable[[], RandomAccess],
    samples: Sequence[Sample],
    workers: int = 2,
    reads: int = 200,
    rounds: int = 3,
) -> Outcomes:
    """Open a reader in a child process, and read random samples from it in several threads at the same time.

    Args:
        open_reader: Opens the file.
        samples: What was written.
        workers: Number of threads.
        reads: Samples that each of them reads in a round.
        rounds: Number of rounds at most; each is a new child process.
    """

    def one_round(seed: int) -> Outcomes:
        return _fork(lambda _: in_threads(seed), 1, workers * reads)

    def in_threads(seed: int) -> Outcomes:
        reader, barrier = open_reader(), threading.Barrier(workers)
        with ThreadPoolExecutor(workers) as pool:
            jobs = [
                pool.submit(_read, reader, samples, reads, barrier, (seed, thread))
                for thread in range(workers)
            ]
            return sum((job.result() for job in jobs), Outcomes())

    return _until_failure(one_round, rounds)


def _until_failure(one_round: Callable[[int], Outcomes], rounds: int) -> Outcomes:
    total = Outcomes()
    for number in range(rounds):
        total += one_round(number)
        if not total.all_right:
            break
    return total


def _read(
    reader: RandomAccess, samples: Sequence[Sample], reads: int, barrier: Barrier, seed: tuple[int, int]
) -> Outcomes:
    indices = np.random.default_rng(seed).integers(0, len(samples), reads).tolist()
    draws = random.Random(str(seed))

    def pause(_: FrameType, event: str, function: object) -> None:
        if event == "c_return" and getattr(function, "__name__", "") == "seek" and draws.random() < PAUSES:
            time.sleep(PAUSE)

    barrier.wait()
    sys.setprofile(pause)
    try:
        return sum((outcome(partial(reader.read, i), samples[i]) for i in indices), Outcomes())
    finally:
        sys.setprofile(None)


def _fork(work: Callable[[int], Outcomes], workers: int, reads: int) -> Outcomes:
    """Run `work(0)`, `work(1)`, … in forked processes; reads that none of them reports are lost."""
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()

    def report(worker: int) -> None:
        # Where a library ends its process, it says so there; the outcomes tell it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDERR)
        results.put(work(worker))

    processes = [context.Process(target=report, args=(number,), daemon=True) for number in range(workers)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        for process in processes:
            process.start()
    for process in processes:
        process.join(TIMEOUT)
        if process.exitcode is None:
            process.kill()
            process.join()
    total = Outcomes()
    while not results.empty():
        total += results.get()
    results.close()
    return total + Outcomes(lost=workers * reads - total.total)

"""Worker processes that take jobs in order, never too many at once, and never outlive the command."""

import multiprocessing
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from ctypes import Array, c_ubyte
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from course_utils.system import die_with_parent
from data_setup.create.render import CHUNK, Broken, Job, Packed, Renderer, make_chunk
from data_setup.format import RAW_BYTES, SetupError

AHEAD = 2  # jobs per worker: enough that none idles, few enough that their pixels take little memory
LINGERING = 0.1  # seconds; for so long the system may list a thread that Python has seen the end of

Results = list[Packed | Broken]

_renderer: Renderer
_memory: memoryview


class Pool:
    """Runs `make_chunk` in worker processes; with one worker, in this process.

    Args:
        renderer: Sent to each worker once.
        workers: How many processes.
    """

    def __init__(self, renderer: Renderer, workers: int) -> None:
        self._renderer = renderer
        self._places = AHEAD * workers + 1 if workers > 1 else 1  # jobs on their way, and one that is back
        self._executor = None
        context = multiprocessing.get_context(start_method())
        shared = context.RawArray(c_ubyte, self._places * CHUNK * RAW_BYTES)
        self.memory = memoryview(shared).cast("B")
        if workers > 1:
            self._executor = ProcessPoolExecutor(workers, context, _start_worker, (renderer, shared))
            # All start now: forked ones before a progress bar starts its thread, spawned ones before one can
            # die (Python 3.11 waits for ever for a worker that it starts while it buries another).
            for _ in range(workers):
                self._executor.submit(int)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def run(self, job: Job) -> Results:
        """Run a job that has a place in the shared memory, and wait for it.

        Raises:
            SetupError: A worker was killed.
        """
        if self._executor is None:
            return make_chunk(self._renderer, job, self.memory)
        with _deaths_explained():
            return self._executor.submit(_work, job).result()

    def stream(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Results]]:
        """Give each job a place in the shared memory and run it.

        Yields:
            A job and its results, in order; its pixels are in `memory` until the next is asked for.

        Raises:
            SetupError: A worker was killed.
        """
        if self._executor is None:
            yield from ((job, self.run(job)) for job in jobs)
            return
        waiting: deque[tuple[Job, Future[Results]]] = deque()
        with _deaths_explained():
            for number, job in enumerate(jobs):
                placed = replace(job, place=number % self._places * CHUNK)
                waiting.append((placed, self._executor.submit(_work, placed)))
                if len(waiting) == self._places:
                    yield _first(waiting)
            while waiting:
                yield _first(waiting)


@contextmanager
def _deaths_explained() -> Iterator[None]:
    try:
        yield
    except BrokenExecutor as error:
        raise SetupError(
            "a worker process was killed, for want of memory perhaps. The same command goes on from here; "
            "fewer --workers take less memory."
        ) from error


def start_method() -> str:
    """How worker processes are best started from here.

    A forked worker has everything imported: a spawned one takes 0.3 s for that. But the child of a process
    with threads may hang on a lock that a thread held.
    """
    tasks = Path("/proc/self/task")  # counts the threads of libraries too; only Linux has it
    if not tasks.is_dir():
        return "spawn"
    until = time.monotonic() + LINGERING
    while len(list(tasks.iterdir())) > 1:
        if threading.active_count() > 1 or time.monotonic() > until:
            return "spawn"
    return "fork"


def _start_worker(renderer: Renderer, shared: Array) -> None:
    global _renderer, _memory
    _renderer, _memory = renderer, memoryview(shared).cast("B")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    die_with_parent()


def _work(job: Job) -> Results:
    return make_chunk(_renderer, job, _memory)


def _first(waiting: deque[tuple[Job, Future[Results]]]) -> tuple[Job, Results]:
    job, future = waiting.popleft()
    return job, future.result()

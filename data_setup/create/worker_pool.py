"""Worker processes that run a bounded number of jobs in order, and end when their parent does.

`Executor.map` would submit all jobs at once and copy the pixels through pipes: hence the bounded queue and
the shared memory.
"""

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
from typing import Any, Generic, Literal, Self

from course_utils.system import die_with_parent
from data_setup.create.render import CHUNK, ItemT, Job, Renderer, Unreadable, render_chunk
from data_setup.create.shard import ImageRecord
from data_setup.format import RAW_BYTES, SetupError

JOBS_PER_WORKER = 2  # enough that no worker idles, few enough that their pixels take little memory
THREAD_EXIT_S = 0.1  # for so long the system may still list a thread that Python has joined

Results = list[ImageRecord | Unreadable]

# Set in each worker; items of any source.
_renderer: Renderer[Any]
_memory: memoryview


class WorkerPool(Generic[ItemT]):
    """Runs `render_chunk` in worker processes; with one worker, in this process.

    Args:
        renderer: Sent to each worker once.
        workers: Number of processes.
    """

    def __init__(self, renderer: Renderer[ItemT], workers: int) -> None:
        self._renderer = renderer
        # Chunks in shared memory: those of the jobs in flight, and the one that the caller reads.
        self._chunks = JOBS_PER_WORKER * workers + 1 if workers > 1 else 1
        self._executor = None
        context = multiprocessing.get_context(start_method())
        shared = context.RawArray(c_ubyte, self._chunks * CHUNK * RAW_BYTES)
        self.memory = memoryview(shared).cast("B")
        if workers > 1:
            self._executor = ProcessPoolExecutor(workers, context, _start_worker, (renderer, shared))
            # Start all workers now: forked ones before a progress bar starts its thread, spawned ones before
            # one can die (Python 3.11 deadlocks when it starts a worker while reaping another).
            for _ in range(workers):
                self._executor.submit(int)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def run(self, job: Job[ItemT]) -> Results:
        """Run a job, whose pixels go to its own `offset` in shared memory, and wait for it.

        Raises:
            SetupError: A worker was killed.
        """
        if self._executor is None:
            return render_chunk(self._renderer, job, self.memory)
        with _killed_worker_explained():
            return self._executor.submit(_work, job).result()

    def stream(self, jobs: Iterable[Job[ItemT]]) -> Iterator[tuple[Job[ItemT], Results]]:
        """Run jobs at offsets in shared memory that this method chooses.

        Yields:
            Each job with its offset, and its results, in order; its pixels stay in `memory` until the next
            job is requested.

        Raises:
            SetupError: A worker was killed.
        """
        if self._executor is None:
            yield from ((job, self.run(job)) for job in jobs)
            return
        in_flight: deque[tuple[Job[ItemT], Future[Results]]] = deque()
        with _killed_worker_explained():
            for number, job in enumerate(jobs):
                placed = replace(job, offset=number % self._chunks * CHUNK)
                in_flight.append((placed, self._executor.submit(_work, placed)))
                if len(in_flight) == self._chunks:
                    yield _first(in_flight)
            while in_flight:
                yield _first(in_flight)


@contextmanager
def _killed_worker_explained() -> Iterator[None]:
    try:
        yield
    except BrokenExecutor as error:
        raise SetupError(
            "a worker process was killed, perhaps for lack of memory. Run the same command again to resume; "
            "fewer --workers need less memory."
        ) from error


def start_method() -> Literal["fork", "spawn"]:
    """Return how to start worker processes from this process: by fork only if it has no other thread.

    A forked worker has everything imported; a spawned one takes 0.3 s for that. But the child of a process
    with threads may deadlock on a lock that a thread held.
    """
    tasks = Path("/proc/self/task")  # lists the threads of libraries too; only on Linux
    if not tasks.is_dir():
        return "spawn"
    until = time.monotonic() + THREAD_EXIT_S
    while len(list(tasks.iterdir())) > 1:
        if threading.active_count() > 1 or time.monotonic() > until:
            return "spawn"
    return "fork"


def _start_worker(renderer: Renderer[Any], shared: Array[c_ubyte]) -> None:
    global _renderer, _memory
    _renderer, _memory = renderer, memoryview(shared).cast("B")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent handles Ctrl-C
    die_with_parent()


def _work(job: Job[Any]) -> Results:
    return render_chunk(_renderer, job, _memory)


def _first(in_flight: deque[tuple[Job[ItemT], Future[Results]]]) -> tuple[Job[ItemT], Results]:
    job, future = in_flight.popleft()
    return job, future.result()

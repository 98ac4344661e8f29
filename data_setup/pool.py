"""Worker processes that take jobs in order, never too many at once, and never outlive the command."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from course_utils.orphans import die_with_parent
from data_setup.chunks import Broken, Job, Packed, Renderer, make_chunk
from data_setup.errors import SetupError

AHEAD = 4  # jobs waiting per worker: enough that none idles, few enough that results take little memory

Results = list[Packed | Broken]

_renderer: Renderer


class Pool:
    """Runs `make_chunk` in worker processes; with one worker, in this process.

    Args:
        renderer: Sent to each worker once.
        workers: How many processes.
    """

    def __init__(self, renderer: Renderer, workers: int) -> None:
        self._renderer = renderer
        self._ahead = AHEAD * workers
        self._executor = None
        if workers > 1:
            context = multiprocessing.get_context(start_method())
            self._executor = ProcessPoolExecutor(workers, context, _start_worker, (renderer,))
            self._executor.submit(int)  # forks all workers, before a progress bar starts its thread

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def run(self, job: Job) -> Results:
        """Run one job and wait for it."""
        return next(self.stream([job]))[1]

    def stream(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Results]]:
        """Run jobs; each comes back with its results, in the order of the jobs."""
        if self._executor is None:
            yield from ((job, make_chunk(self._renderer, job)) for job in jobs)
            return
        waiting: deque[tuple[Job, Future[Results]]] = deque()
        for job in jobs:
            waiting.append((job, self._executor.submit(_work, job)))
            if len(waiting) > self._ahead:
                yield _settled(waiting.popleft())
        while waiting:
            yield _settled(waiting.popleft())


def start_method() -> str:
    """How worker processes are best started from here.

    A forked worker has everything imported: a spawned one takes 0.3 s for that. But the child of a process
    with threads may hang on a lock that a thread held.
    """
    tasks = Path("/proc/self/task")  # counts the threads of libraries too; only Linux has it
    return "fork" if tasks.is_dir() and len(list(tasks.iterdir())) == 1 else "spawn"


def _start_worker(renderer: Renderer) -> None:
    global _renderer
    _renderer = renderer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    die_with_parent()


def _work(job: Job) -> Results:
    return make_chunk(_renderer, job)


def _settled(waiting: tuple[Job, Future[Results]]) -> tuple[Job, Results]:
    job, future = waiting
    try:
        return job, future.result()
    except BrokenExecutor as error:
        raise SetupError(
            "a worker process was killed, for want of memory perhaps. The same command goes on from here; "
            "fewer --workers take less memory."
        ) from error

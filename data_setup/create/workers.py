"""Worker processes that render a bounded number of chunks in order, and end when their parent does.

`Executor.map` would submit all jobs at once and copy the pixels through pipes: hence the bounded queue and
the shared memory.
"""

import multiprocessing
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from ctypes import Array, c_ubyte
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple

from course_utils.system import die_with_parent
from data_setup.create.render import CHUNK, ChunkRenderer, ImageRecord, ItemT, Job, Unreadable
from data_setup.format.errors import SetupError
from data_setup.format.layout import RAW_BYTES

JOBS_PER_WORKER = 2  # enough that no worker idles, few enough that their pixels take little memory
THREAD_EXIT_S = 0.1  # for so long the system may still list a thread that Python has joined
CHUNK_BYTES = CHUNK * RAW_BYTES

# Set in each worker; items of any source.
_renderer: ChunkRenderer[Any]
_memory: memoryview


class Made(NamedTuple, Generic[ItemT]):
    """A job, what became of its images, and their pixels, which stay there until the next is asked for."""

    job: Job[ItemT]
    results: list[ImageRecord | Unreadable]
    memory: memoryview


def render_all(
    renderer: ChunkRenderer[ItemT], jobs: Iterable[Job[ItemT]], workers: int
) -> Generator[Made[ItemT], None, None]:
    """Run jobs in worker processes, in their order; with one worker, in this process.

    Raises:
        SetupError: A worker was killed.
    """
    if workers == 1:
        memory = memoryview(bytearray(CHUNK_BYTES))
        yield from (Made(job, renderer.chunk(job, memory), memory) for job in jobs)
        return
    context = multiprocessing.get_context(start_method())
    places = JOBS_PER_WORKER * workers + 1  # of the jobs in flight, and of the one that the caller reads
    shared = context.RawArray(c_ubyte, places * CHUNK_BYTES)
    in_flight: deque[tuple[Job[ItemT], int, Future[list[ImageRecord | Unreadable]]]] = deque()

    def first() -> Made[ItemT]:
        job, place, future = in_flight.popleft()
        return Made(job, future.result(), _at(memoryview(shared).cast("B"), place))

    try:
        with ProcessPoolExecutor(workers, context, _start_worker, (renderer, shared)) as executor:
            # Start all workers now: Python 3.11 deadlocks when it starts one while reaping another.
            for _ in range(workers):
                executor.submit(int)
            for number, job in enumerate(jobs):
                place = number % places
                in_flight.append((job, place, executor.submit(_work, job, place)))
                if len(in_flight) == places:
                    yield first()
            while in_flight:
                yield first()
    except BrokenExecutor as error:
        raise SetupError(
            "a worker process was killed, perhaps for lack of memory. Run the same command again to resume; "
            "fewer --workers need less memory."
        ) from error


def _at(memory: memoryview, place: int) -> memoryview:
    return memory[place * CHUNK_BYTES : (place + 1) * CHUNK_BYTES]


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


def _start_worker(renderer: ChunkRenderer[Any], shared: Array[c_ubyte]) -> None:
    global _renderer, _memory
    _renderer, _memory = renderer, memoryview(shared).cast("B")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the parent handles Ctrl-C
    die_with_parent()


def _work(job: Job[Any], place: int) -> list[ImageRecord | Unreadable]:
    return _renderer.chunk(job, _at(_memory, place))

"""Threads: limit PyTorch's own where workers use the cores; tell which ones a cell has started."""

import sys
import sysconfig
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

# Files of Python, of installed packages and of this package hold no student's code.
_STDLIB = str(sysconfig.get_path("stdlib"))
_PACKAGES = (*(sysconfig.get_path(name) for name in ("purelib", "platlib")), str(Path(__file__).parents[1]))
LIBRARY_PREFIXES = (_STDLIB, *_PACKAGES, "<frozen")
_INSTALLED = "-packages/"  # also where a virtual environment takes those of its Python
# A thread that began in these serves a library: the outputs of a kernel, the queues of a loader, an event
# loop, a pool that waits for work.
_SERVANTS = (*_PACKAGES, *(f"{_STDLIB}/{name}/" for name in ("multiprocessing", "concurrent", "asyncio")))


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit PyTorch's operations to one thread within the context.

    Where decoders or workers use all cores, more threads would only wait for each other.
    """
    import torch  # the fork server of grading starts without it

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def threads_of_cells() -> list[str]:
    """Return the names of the running threads that cells have started.

    Nothing tells who started a thread: those of a kernel and of a loader also begin while a cell runs. What
    counts is what a thread does: it runs code of a cell, or what no library runs in a thread of its own.
    """
    own = {threading.get_ident(), threading.main_thread().ident}
    running = {thread: frame for thread, frame in sys._current_frames().items() if thread not in own}
    threads = [thread for thread in threading.enumerate() if thread.ident in running]
    return [thread.name for thread in threads if _is_of_a_cell(running[thread.ident or 0])]


def _is_of_a_cell(frame: FrameType) -> bool:
    innermost_last = reversed([one.f_code.co_filename for one, _ in traceback.walk_stack(frame)])
    files = [file for file in innermost_last if file != threading.__file__]
    if any(not _is_of_a_library(file) for file in files):
        return True
    return not files or not (files[0].startswith(_SERVANTS) or _INSTALLED in files[0])


def _is_of_a_library(file: str) -> bool:
    return file.startswith(LIBRARY_PREFIXES) or _INSTALLED in file

"""One command at a time writes a course's submissions, results, gradebook and pages."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

NAME = ".lock"


@contextmanager
def course_lock(folder: Path, what: str, on_wait: Callable[[str], object]) -> Iterator[None]:
    """Hold a course's lock; wait for another command that has it. It ends with its process, even if killed.

    Args:
        folder: The folder of the course's results.
        what: What this command does, for others that wait.
        on_wait: Called with one sentence about who has the lock, before waiting.
    """
    with suppress(OSError):  # what cannot be written here, the command itself reports
        folder.mkdir(parents=True, exist_ok=True)
    try:
        file = (folder / NAME).open("a+")
    except OSError:
        yield
        return
    with file:
        _take(file, on_wait)
        with suppress(OSError):  # a full disk
            file.truncate(0)
            file.write(f"{what}, process {os.getpid()} on {socket.gethostname()}")
            file.flush()
        yield


def _take(file: TextIO, on_wait: Callable[[str], object]) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        on_wait(f"Waiting for another command that works on this course: {file.read(200) or 'unknown'}.")
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:  # a file system without locks
        return

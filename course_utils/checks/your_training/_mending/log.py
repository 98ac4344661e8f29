"""What happens in a run, in one order for all of its processes."""

import os
import threading
from pathlib import Path
from typing import Any, NamedTuple

from course_utils.checks.core import environment

MAX_EVENTS = 10_000  # far more than any script that ends


class Event(NamedTuple):
    """Something that happened.

    Attributes:
        process: Number of the thread in the system, for a main thread that of its process.
        in_loop: Whether it happened where the script's loop runs: in its process and in the main thread.
        kind: What it was; `watch` lists them.
        value: More about it.
    """

    process: int
    in_loop: bool
    kind: str
    value: Any


class Log:
    """Events of a process and of those that it forks, in a file to which all of them append."""

    def __init__(self, path: Path) -> None:
        self._process, self._thread, self._path = os.getpid(), threading.get_ident(), path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._write = os.write

    def add(self, kind: str, value: object = None) -> None:
        """Append an event."""
        in_loop = (os.getpid(), threading.get_ident()) == (self._process, self._thread)
        self._write(
            self._file,
            environment.json.dumps([threading.get_native_id(), in_loop, kind, value]).encode() + b"\n",
        )

    def events(self) -> list[Event]:
        """Return the events until now, at most `MAX_EVENTS`."""
        return [
            Event(*environment.json.loads(line)) for line in self._path.read_bytes().splitlines()[:MAX_EVENTS]
        ]

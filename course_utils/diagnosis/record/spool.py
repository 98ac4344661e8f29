"""Records of one process, appended to a file of its own, so that a killed process loses little."""

import json
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

FLUSH_SECONDS = 0.3
DETAILED = 3_000  # records of a kind; each doubling of their number adds half as many

P = ParamSpec("P")
T = TypeVar("T")
_complained: set[str] = set()
_encode = json.JSONEncoder(default=str).encode


def attempt(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Call a function of ours; its error becomes one line on stderr, and the script continues."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        complain(function.__qualname__, error)
        return None


def complain(place: str, error: BaseException) -> None:
    """Report an error of ours once per place."""
    if place not in _complained:
        _complained.add(place)
        sys.stderr.write(f"diagnosis: {place} failed, the script continues: {error!r}\n")


def is_kept(count: int, detailed: int = DETAILED) -> bool:
    """Whether the record with this number is written: of more and more, an ever smaller part."""
    return count % (1 << (count // detailed).bit_length()) == 0


class Spool:
    """A file of JSON lines whose size grows with the logarithm of the number of records."""

    def __init__(self, folder: str, name: str) -> None:
        self._path = Path(folder) / f"{name}.jsonl"
        self._lock = threading.RLock()  # a signal handler may interrupt a flush
        self._lines: list[str] = []
        self._written = time.monotonic()
        self._counts: dict[str, int] = {}
        self._finalizer = Finalize(self, self.flush, exitpriority=100)

    def write(self, kind: str, **fields: Any) -> None:
        """Add a record; those of one kind are thinned out when there are many."""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if not is_kept(count):
            return
        self._lines.append(_encode({"kind": kind, **fields}))
        if time.monotonic() - self._written > FLUSH_SECONDS or len(self._lines) > 200:
            self.flush()

    def flush(self) -> None:
        """Write what has been collected."""
        with self._lock:
            lines, self._lines = self._lines, []
            self._written = time.monotonic()
            if lines and self._path.parent.is_dir():
                with self._path.open("ab", buffering=0) as file:
                    file.write("\n".join([*lines, ""]).encode())

"""Records of one process, appended to a file of its own, so that a killed process loses little."""

import json
import sys
import threading
import time
from collections.abc import Callable
from functools import wraps
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any, ParamSpec

FLUSH_SECONDS = 0.3
DETAILED = 3_000  # records of a kind; from then on every 16th

P = ParamSpec("P")
_complained: set[str] = set()


def harmless(function: Callable[P, None]) -> Callable[P, None]:
    """An error in our own code becomes one line on stderr, and the script continues."""

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except Exception as error:
            complain(function.__qualname__, error)

    return guarded


def complain(place: str, error: BaseException) -> None:
    """Report an error of ours once per place."""
    if place not in _complained:
        _complained.add(place)
        sys.stderr.write(f"diagnosis: {place} failed, the script continues: {error!r}\n")


class Spool:
    """A file of JSON lines with bounded size."""

    def __init__(self, folder: str, name: str) -> None:
        self._path = Path(folder) / f"{name}.jsonl"
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._written = time.monotonic()
        self._counts: dict[str, int] = {}
        self._finalizer = Finalize(self, self.flush, exitpriority=100)

    def write(self, kind: str, **fields: Any) -> None:
        """Add a record; those of one kind are thinned out when there are many."""
        count = self._counts[kind] = self._counts.get(kind, 0) + 1
        if count > DETAILED and count % 16:
            return
        self._lines.append(json.dumps({"kind": kind, **fields}, default=str))
        if time.monotonic() - self._written > FLUSH_SECONDS or len(self._lines) > 200:
            self.flush()

    def flush(self) -> None:
        """Write what has been collected."""
        with self._lock:
            lines, self._lines = self._lines, []
            self._written = time.monotonic()
            if lines and self._path.parent.is_dir():
                with self._path.open("a") as file:
                    file.write("\n".join([*lines, ""]))

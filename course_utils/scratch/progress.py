"""Tell how staging goes on: a bar on a terminal, lines in the log of a job."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from course_utils.scratch.node_lock import Holder
from course_utils.scratch.staged_set import Place

INTERVAL = 30  # seconds between two lines of a process that waits
LINES = 10  # of a process that copies; one a gigabyte where the size is not known


class Progress:
    """Tells on standard error what a call of `stage_set` does.

    Args:
        name: The source.
        total: Its bytes; None if they are not known.
        place: Where it is staged.
    """

    def __init__(self, name: str, total: int | None, place: Place) -> None:
        self._name, self._total, self._place = name, total, place
        self._done, self._told = 0, 0
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._bar = tqdm(total=total, unit="B", unit_scale=True, disable=not sys.stderr.isatty())

    def copied(self, nbytes: int) -> None:
        """Count bytes that this process has written."""
        self._over.set()  # this process waits no longer
        self._bar.update(nbytes)
        self._done += nbytes
        part = LINES * self._done // self._total if self._total else self._done // 10**9
        if self._bar.disable and part > self._told:
            self._told = part
            of = f" of {self._total / 1e9:,.2f}" if self._total else ""
            _tell(f"{self._name}: {self._done / 1e9:,.2f}{of} GB copied")

    def waits(self, holder: Holder) -> None:
        """Say whom this process waits for; say it again now and then, until `copied` or the end."""
        line = f"waiting for {holder}, to stage {self._name}"
        _tell(line)
        self._thread = threading.Thread(target=self._repeat, args=[line], daemon=True)
        self._thread.start()

    def replaces(self, wrong: str) -> None:
        """Say why a set that is there is made anew."""
        _tell(f"{self._place.folder} is not as it was made ({wrong}); it is made anew")

    def end(self) -> None:
        """Say nothing any more."""
        self._over.set()
        if self._thread:
            self._thread.join()
        self._bar.close()

    def _repeat(self, line: str) -> None:
        while not self._over.wait(INTERVAL):
            _tell(f"{line}: {self._place.arrived() / 1e9:,.2f} GB have arrived")


@contextmanager
def told(name: str, total: int | None, place: Place) -> Iterator[Progress]:
    """Tell the progress of a call within the context."""
    progress = Progress(name, total, place)
    try:
        yield progress
    finally:
        progress.end()


def _tell(line: str) -> None:
    sys.stderr.write(f"scratch: {line}\n")
    sys.stderr.flush()

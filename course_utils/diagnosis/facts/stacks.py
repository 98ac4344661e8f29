"""Where the time of a fetch goes, by a few stacks of the thread that loads."""

import sys
import sysconfig
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

from course_utils.diagnosis.facts.lateness import RunDelay, seconds_late

SECONDS, SLOWER = 0.002, 4  # between stacks; twice as long after so many, three times after twice as many
MOST = 40  # stacks: a thread that wakes up beside one that computes costs 0.2 ms of it
LIBRARIES = (sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["purelib"], "<frozen")
OURS = str(Path(__file__).parents[1])


class StackSampler:
    """Looks at one thread while a fetch runs, first every 2 ms, then less often, at most 40 times."""

    def __init__(self) -> None:
        self._found: Counter[str] = Counter()
        self._late: list[float] = []
        self._thread: threading.Thread | None = None
        self._running = threading.Event()
        self._watched = 0
        self._started = 0
        self._stopped = False

    def resume(self) -> None:
        """A fetch begins. Only fetches after the first are watched."""
        if self._stopped:
            return
        self._started += 1
        if self._started == 2:
            self._watched = threading.get_ident()
            self._thread = threading.Thread(target=self._watch, name="diagnosis", daemon=True)
            self._thread.start()
        self._running.set()

    def pause(self) -> None:
        """A fetch has ended."""
        self._running.clear()

    def stop(self) -> None:
        """End the thread, before somebody forks."""
        self._stopped = True
        self._running.set()
        if self._thread:
            self._thread.join(1)

    def top(self) -> list[tuple[str, int]]:
        """The lines of the user's code that were met most often."""
        return self._found.most_common(4)

    def late(self) -> tuple[float, int]:
        """Seconds that a thread beside a fetch waited for the interpreter's lock, and how often it asked."""
        return sum(self._late), len(self._late)

    def _watch(self) -> None:
        delay = RunDelay()
        while not self._stopped and (count := self._found.total()) < MOST:
            self._running.wait(1)
            late = seconds_late(SECONDS * (1 + count / SLOWER), delay)
            if late is not None and self._running.is_set():
                self._late.append(late)
            frame = sys._current_frames().get(self._watched) if self._running.is_set() else None
            if frame and (line := users_line(frame)):
                self._found[line] += 1
        delay.close()


def users_line(frame: FrameType | None) -> str:
    """The innermost line outside of libraries and of this package, with what it calls there."""
    called = ""
    while frame:
        file = frame.f_code.co_filename
        if file.startswith(OURS):
            return called
        if not file.startswith(LIBRARIES):
            place = f"{Path(file).name}:{frame.f_lineno} in {frame.f_code.co_name}"
            return f"{place} → {called}" if called else place
        module = frame.f_globals.get("__name__", "").split(".")[0]
        called = f"{module}.{frame.f_code.co_name}"
        frame = frame.f_back
    return ""

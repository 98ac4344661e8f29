"""How late a thread runs because another holds the interpreter's lock, on a busy machine, too."""

import contextlib
import os
import time


class RunDelay:
    """Seconds that the thread which made it has waited for a core."""

    def __init__(self) -> None:
        self._file = -1
        with contextlib.suppress(OSError):
            self._file = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)

    def seconds(self) -> float | None:
        """None if the kernel does not tell."""
        try:
            return int(os.pread(self._file, 64, 0).split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return None

    def close(self) -> None:
        """Close what it opened."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


def seconds_late(seconds: float, delay: RunDelay) -> float | None:
    """Sleep, and return how much longer it took, without waiting for a core; None if that is not known."""
    before, begin = delay.seconds(), time.monotonic()
    time.sleep(seconds)
    slept, after = time.monotonic() - begin, delay.seconds()
    return None if before is None or after is None else max(slept - seconds - (after - before), 0.0)

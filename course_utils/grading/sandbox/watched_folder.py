"""Places the files of one check and counts how often each is opened, by inotify.

The counts are kept outside the student's process, out of its reach.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections import Counter
from pathlib import Path

OTHER = "*"  # files that the student created there
_OPEN, _ACCESS, _CLOSE, _OVERFLOW = 0x20, 0x1, 0x18, 0x4000
_EVENT = struct.Struct("iIII")
_libc = ctypes.CDLL(None, use_errno=True)


class NotWatchedError(OSError):
    """This machine has no inotify instance, watch or descriptor left."""


class WatchedFolder:
    """Files in a new folder that everybody may change, watched from the moment they are placed.

    Raises:
        NotWatchedError: This machine cannot watch anything more.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._folder = -1
        self._events: int = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._events < 0:
            raise _error("inotify_init1")

    def place(self, place: Path, files: dict[str, bytes]) -> None:
        """Create the folder with its files.

        Args:
            place: The folder to create; a student may own its parent and be changing it concurrently.
            files: Contents by name.

        Raises:
            NotWatchedError: This machine cannot watch anything more.
            OSError: The folder could not be created or filled.
        """
        self._names = set(files)
        place.mkdir()
        self._folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        os.fchmod(self._folder, 0o777)
        for name, data in files.items():
            self._write(name, data)
        # Reads and closes, too: the kernel merges identical consecutive events.
        folder = f"/proc/self/fd/{self._folder}".encode()
        if _libc.inotify_add_watch(self._events, folder, _OPEN | _ACCESS | _CLOSE) < 0:
            raise _error("inotify_add_watch")

    def opened(self) -> dict[str, int]:
        """Return how often each file was opened since the last call.

        The empty name is the folder itself, when it was listed. Consecutive openings of a file without a read
        in between may count once.
        """
        counts: Counter[str] = Counter()
        with contextlib.suppress(BlockingIOError):
            while events := os.read(self._events, 2**16):
                counts += self._counted(events)
        return dict(counts)

    def close(self) -> None:
        """Stop watching; the files stay."""
        os.close(self._events)
        if self._folder >= 0:
            os.close(self._folder)

    def _write(self, name: str, data: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(name, flags, dir_fd=self._folder), "wb") as file:
            os.fchmod(file.fileno(), 0o666)
            file.write(data)

    def _counted(self, events: bytes) -> Counter[str]:
        counts: Counter[str] = Counter()
        start = 0
        while start < len(events):
            _, mask, _, size = _EVENT.unpack_from(events, start)
            start += _EVENT.size
            name = os.fsdecode(events[start : start + size].rstrip(b"\0"))
            start += size
            if mask & _OVERFLOW:  # the kernel dropped events: count as too many
                counts.update(dict.fromkeys(self._names, 10**6))
            elif mask & _OPEN:
                counts[name if name in self._names or not name else OTHER] += 1
        return counts


def _error(call: str) -> NotWatchedError:
    code = ctypes.get_errno()
    return NotWatchedError(code, f"{call}: {os.strerror(code)}")

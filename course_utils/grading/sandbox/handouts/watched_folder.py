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
    """Files in a new folder that nobody should change, watched from the moment they are placed.

    Raises:
        NotWatchedError: This machine cannot watch anything more.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._descriptors: list[int] = []
        self._folders: dict[int, str] = {}  # by number of the watch
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
        folders = {"": _new_folder(place)}
        self._descriptors = list(folders.values())
        for name, data in files.items():
            folder = name.rpartition("/")[0]
            if folder not in folders:
                folders[folder] = _new_folder(Path(folder), folders[""])
                self._descriptors.append(folders[folder])
            _write(name.rpartition("/")[2], data, folders[folder])
        for folder, descriptor in folders.items():
            os.fchmod(descriptor, 0o555)
            self._folders[self._watch(descriptor)] = folder

    def _watch(self, descriptor: int) -> int:
        # Reads and closes, too: the kernel merges identical consecutive events.
        folder = f"/proc/self/fd/{descriptor}".encode()
        watch: int = _libc.inotify_add_watch(self._events, folder, _OPEN | _ACCESS | _CLOSE)
        if watch < 0:
            raise _error("inotify_add_watch")
        return watch

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
        for descriptor in self._descriptors:
            os.close(descriptor)

    def _counted(self, events: bytes) -> Counter[str]:
        counts: Counter[str] = Counter()
        start = 0
        while start < len(events):
            watch, mask, _, size = _EVENT.unpack_from(events, start)
            start += _EVENT.size
            inside = os.fsdecode(events[start : start + size].rstrip(b"\0"))
            name = "/".join(part for part in (self._folders.get(watch, ""), inside) if part)
            start += size
            if mask & _OVERFLOW:  # the kernel dropped events: count as too many
                counts.update(dict.fromkeys(self._names, 10**6))
            elif mask & _OPEN:
                counts[name if name in self._names or not inside else OTHER] += 1
        return counts


def _new_folder(place: Path, inside: int | None = None) -> int:
    """Create a folder and return a descriptor of it, through which nobody can exchange it."""
    os.mkdir(place, dir_fd=inside)
    return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=inside)


def _write(name: str, data: bytes, folder: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(name, flags, dir_fd=folder), "wb") as file:
        os.fchmod(file.fileno(), 0o444)
        file.write(data)


def _error(call: str) -> NotWatchedError:
    code = ctypes.get_errno()
    return NotWatchedError(code, f"{call}: {os.strerror(code)}")

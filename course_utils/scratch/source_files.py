"""The files of a source: only regular ones are opened, and a change while they are copied is an error."""

import os
import stat
from pathlib import Path
from typing import IO, NamedTuple

from course_utils.scratch.presets import ScratchError


class State(NamedTuple):
    """What tells a file or a folder from another one, or from an earlier state of itself.

    The time of the inode (`changed`) is there because a program that copies may set the other one back.
    """

    inode: int
    size: int
    modified: int
    changed: int


class SourceFiles:
    """Opens the files of one source, and says at the end whether any of them has changed meanwhile."""

    def __init__(self) -> None:
        self._states: dict[Path, State] = {}

    def open(self, path: Path) -> tuple[IO[bytes], int]:
        """Open a file; return it, and its size in bytes. A pipe blocks nobody.

        Raises:
            ScratchError: It is no regular file, or has vanished.
            OSError: It cannot be read.
        """
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError as error:
            raise _changed(path) from error
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise no_file(path)
            self._states[path] = _state(status)
            return os.fdopen(descriptor, "rb", buffering=0), status.st_size
        except BaseException:
            os.close(descriptor)
            raise

    def entries(self, folder: Path) -> list["os.DirEntry[str]"]:
        """Return the entries of a folder, by name."""
        self.remember(folder)
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)

    def remember(self, path: Path) -> None:
        """Take the present state of a file or a folder as the one to be copied."""
        self._states[path] = _state(path.stat())

    def require_unchanged(self) -> None:
        """Compare the states of all files and folders with those at which they were opened.

        Each file costs its file system a look-up; without it, a set could be half old and half new.

        Raises:
            ScratchError: One of them has changed.
        """
        for path, state in self._states.items():
            try:
                same = _state(os.stat(path)) == state  # noqa: PTH116 - Path takes twice as long
            except FileNotFoundError:
                same = False
            if not same:
                raise _changed(path)


def require_regular(path: Path) -> None:
    """Check that a source is a regular file or a folder, without opening it.

    Raises:
        ScratchError: It is a pipe, a socket or a device.
    """
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise no_file(path)


def no_file(path: str | Path) -> ScratchError:
    """Return the error for what can be neither copied nor unpacked."""
    return ScratchError(
        f"{path} is neither a file nor a folder, but a pipe, a socket, a device or a broken link: remove it "
        "from the set"
    )


def changed(path: str | Path, how: str = "has changed") -> ScratchError:
    """Return the error for a source that is no longer the one whose copying was begun."""
    return ScratchError(
        f"{path} {how} while it was copied; nothing was staged. Run the same command again when the data is "
        "no longer being written"
    )


def _changed(path: Path) -> ScratchError:
    return changed(path, "has changed" if path.exists() else "has vanished")


def _state(status: os.stat_result) -> State:
    return State(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

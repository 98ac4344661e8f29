"""Lock files against two commands that make the same thing."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from data_setup.format.errors import SetupError

LOCKS_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def exclusive_lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file; the system releases it however the process ends.

    On a filesystem without locks it has no effect.

    Args:
        path: The lock file; it is created if missing, and removed in the end.
        what: What the lock protects, for the message.

    Raises:
        SetupError: Another process holds it.
    """
    file = _open_locked(path, what, fcntl.LOCK_EX)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        file.close()


@contextmanager
def shared_lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file that others may share, but that none may hold exclusively; it is not removed.

    Raises:
        SetupError: Another process holds it exclusively.
    """
    file = _open_locked(path, what, fcntl.LOCK_SH)
    try:
        yield
    finally:
        file.close()


def _open_locked(path: Path, what: str, kind: int) -> BinaryIO:
    while True:
        file = path.open("a+b")
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.close()
            raise SetupError(f"another command is making {what} right now; wait until it ends") from error
        except OSError as error:
            if error.errno not in LOCKS_UNSUPPORTED:
                file.close()
                raise
        if _is_same_file(file, path):
            return file
        file.close()  # its last holder has removed it since it was opened


def _is_same_file(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False

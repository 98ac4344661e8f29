"""Atomic writes, and lock files against two commands that make the same thing."""

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from data_setup.format.errors import SetupError

LOCKS_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write_atomically(path: Path, pieces: Iterable[bytes], scratch: Path | None = None) -> None:
    """Write a file under a temporary name, then rename it.

    Args:
        path: The file; an existing one is replaced.
        pieces: Its content.
        scratch: Folder of the temporary file, which a kill may leave behind; on the same filesystem. None is
            the folder of `path`.
    """
    temporary = (scratch or path.parent) / f"{path.name}.{os.getpid()}.tmp"
    try:
        with temporary.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def exclusive_lock(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file; the system releases it however the process ends.

    On a filesystem without locks it has no effect.

    Args:
        path: The lock file; it is created if missing.
        what: What the lock protects, for the message.

    Raises:
        SetupError: Another process holds it.
    """
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SetupError(f"another command is making {what} right now; wait until it ends") from error
        except OSError as error:
            if error.errno not in LOCKS_UNSUPPORTED:
                raise
        yield

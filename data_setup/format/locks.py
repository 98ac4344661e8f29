"""A lock file against two commands that make the same thing."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from data_setup.format.errors import SetupError
from data_setup.format.layout import STAGING

LOCKS_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def set_lock(out: Path) -> Path:
    """Return the lock file of a set; outside of the folder that is removed while it is held."""
    return out / f"{STAGING}.lock"


@contextmanager
def locked(path: Path, what: str, shared: bool = False) -> Iterator[None]:
    """Hold a lock file, which the system releases however the process ends.

    On a file system without locks it has no effect.

    Args:
        path: The lock file; it is created if missing, and removed in the end unless others may share it.
        what: What the lock protects, for the message.
        shared: Others may share it, but none may hold it alone.

    Raises:
        SetupError: Another process holds it.
    """
    with path.open("ab") as file:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            is_held = os.fstat(file.fileno()).st_nlink == 0  # its last holder has just removed it
        except BlockingIOError:
            is_held = True
        except OSError as error:
            if error.errno not in LOCKS_UNSUPPORTED:
                raise
            is_held = False
        if is_held:
            raise SetupError(f"another command is making {what} right now; wait until it ends")
        try:
            yield
        finally:
            if not shared:
                path.unlink(missing_ok=True)

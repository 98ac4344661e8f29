"""Writing so that a name never stands for half a file, and so that two commands never make the same thing."""

import errno
import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from data_setup.format.errors import SetupError

NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write_atomically(path: Path, pieces: Iterable[bytes], scratch: Path | None = None) -> None:
    """Write a file under another name first, so that its own name only ever stands for all of it.

    Args:
        path: The file; an existing one is replaced.
        pieces: Its content.
        scratch: A folder on the same filesystem for the other name, which a kill may leave behind; the file's
            own folder if there is none.
    """
    unfinished = (scratch or path.parent) / f"{path.name}.{os.getpid()}.tmp"
    try:
        with unfinished.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def exclusive(path: Path, what: str) -> Iterator[None]:
    """Hold a lock file; the system lets go of it however the process ends.

    Raises:
        SetupError: Another process holds it.
    """
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SetupError(f"another command is making {what} right now; wait for it to end") from error
        except OSError as error:
            if error.errno not in NO_LOCKS_HERE:
                raise
        yield

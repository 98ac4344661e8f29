"""Atomic and durable writes, and lock files against two commands that make the same thing."""

import errno
import fcntl
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from data_setup.format.errors import SetupError

LOCKS_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write_atomically(path: Path, pieces: Iterable[bytes], scratch: Path | None = None) -> None:
    """Write a file under a temporary name, flush it to disk, then rename it.

    Args:
        path: The file; an existing one is replaced.
        pieces: Its content.
        scratch: Folder of the temporary file, which a kill may leave behind; on the same filesystem. None is
            the folder of `path`.
    """
    with _temporary_file(path, pieces, scratch or path.parent) as temporary:
        temporary.replace(path)
    sync_folder(path.parent)


def remove_temporaries(path: Path) -> None:
    """Remove the temporary files of a file that killed processes left behind; no other process writes it."""
    for temporary in path.parent.glob(f".{path.name}.*.tmp"):
        temporary.unlink(missing_ok=True)


def create_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file as `write_atomically` does, but keep one that another process has created first."""
    with _temporary_file(path, pieces, path.parent) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return
        except OSError:  # a filesystem without hard links
            if not path.exists():
                temporary.replace(path)
    sync_folder(path.parent)


@contextmanager
def _temporary_file(path: Path, pieces: Iterable[bytes], folder: Path) -> Iterator[Path]:
    temporary = folder / f".{path.name}.{secrets.token_hex(8)}.tmp"  # processes of other machines differ too
    try:
        with temporary.open("wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk, where its filesystem supports that."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, *LOCKS_UNSUPPORTED):
            raise
    finally:
        os.close(handle)


def sync_filesystem(folder: Path) -> None:
    """Flush all files of the filesystem of a folder to disk: one call for thousands of files.

    Raises:
        OSError: The disk refused some of them.
    """
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "syncfs"):  # only Linux has it
        os.sync()
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        if libc.syncfs(handle):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(folder))
    finally:
        os.close(handle)


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

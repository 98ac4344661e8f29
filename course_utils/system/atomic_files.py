"""Atomic and durable writes of files."""

import ctypes
import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

UNSUPPORTED = (errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def write_atomically(
    path: Path, pieces: Iterable[bytes], scratch: Path | None = None, mode: int = 0o666
) -> None:
    """Write a file under a temporary name, flush it to disk, then rename it.

    Safe for concurrent writers, also of several machines: a reader sees the old or a new file, never a part.

    Args:
        path: The file; an existing one is replaced.
        pieces: Its content.
        scratch: Folder of the temporary file, which a kill may leave behind; on the same filesystem. None is
            the folder of `path`.
        mode: Permissions of a new file, of which the umask takes away; 0o600 for what others may not read.
    """
    with _temporary_file(path, pieces, scratch or path.parent, mode) as temporary:
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
def _temporary_file(path: Path, pieces: Iterable[bytes], folder: Path, mode: int = 0o666) -> Iterator[Path]:
    temporary = folder / f".{path.name}.{secrets.token_hex(8)}.tmp"  # processes of other machines differ too
    try:
        with open(temporary, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
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
        if error.errno not in UNSUPPORTED:
            raise
    finally:
        os.close(handle)


def sync_filesystem(folder: Path) -> None:
    """Flush all files of the filesystem of a folder to disk: one call for thousands of files.

    Raises:
        OSError: The disk refused some of them.
    """
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

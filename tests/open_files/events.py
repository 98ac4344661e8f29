"""What may happen to a file while it is open."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

LASTING = 1000  # reads that fail: more than any reader repeats


def replaced(file: Path, new: Path, rng: Random) -> None:
    """Another set's file takes the name; who has opened the old one keeps it."""
    copy = file.with_name(f".{file.name}.new")
    shutil.copy(new, copy)
    copy.replace(file)


def rewritten(file: Path, new: Path, rng: Random) -> None:
    """Another set's file is copied over it in place, as `cp -r` does."""
    file.write_bytes(new.read_bytes())


def overwritten(file: Path, new: Path, rng: Random) -> None:
    """A part of it is overwritten by another set's bytes."""
    content = new.read_bytes()
    start = rng.randrange(len(content) or 1)
    with file.open("r+b") as out:
        out.seek(start)
        out.write(content[start : start + rng.randrange(1, 2000)])


def truncated(file: Path, new: Path, rng: Random) -> None:
    os.truncate(file, rng.randrange(file.stat().st_size or 1))


def extended(file: Path, new: Path, rng: Random) -> None:
    with file.open("ab") as out:
        out.write(new.read_bytes()[: rng.randrange(1, 5000)])


def deleted(file: Path, new: Path, rng: Random) -> None:
    file.unlink()


def replaced_by_pipe(file: Path, new: Path, rng: Random) -> None:
    file.unlink()
    os.mkfifo(file)


def unreadable(file: Path, new: Path, rng: Random) -> None:
    """Nobody may open it, and who has it open gets an error of the kernel for each read."""
    file.chmod(0)
    blind = os.open(file.with_name(".blind"), os.O_WRONLY | os.O_CREAT)
    status = file.stat()
    for descriptor in range(3, 256):
        try:
            found = os.fstat(descriptor)
        except OSError:
            continue
        if os.path.samestat(found, status):
            os.dup2(blind, descriptor)


def failing(times: int, code: int) -> Callable[[Path, Path, Random], None]:
    """Return an event that lets so many reads of any file fail."""

    def fail(file: Path, new: Path, rng: Random) -> None:
        left = [times]
        for name in ("pread", "preadv", "read"):
            _patch(name, left, lambda *_: (_ for _ in ()).throw(OSError(code, os.strerror(code))))

    return fail


def short(file: Path, new: Path, rng: Random) -> None:
    """The next reads return fewer bytes than asked for, as reads may."""
    left, pread, preadv = [3], os.pread, os.preadv
    _patch("pread", left, lambda fd, size, at: pread(fd, max(size // 2, 1), at))
    _patch("preadv", left, lambda fd, views, at: preadv(fd, views[:1], at))


def _patch(name: str, left: list[int], instead: Callable[..., object]) -> None:
    real = getattr(os, name)

    def read(*args: object) -> object:
        if left[0]:
            left[0] -= 1
            return instead(*args)
        return real(*args)

    setattr(os, name, read)


EVENTS: dict[str, Callable[[Path, Path, Random], None]] = {
    "replaced": replaced,
    "rewritten": rewritten,
    "overwritten": overwritten,
    "truncated": truncated,
    "extended": extended,
    "deleted": deleted,
    "pipe": replaced_by_pipe,
    "unreadable": unreadable,
    "stale once": failing(1, errno.ESTALE),
    "stale": failing(LASTING, errno.ESTALE),
    "EIO": failing(LASTING, errno.EIO),
    "short read": short,
}

"""A lock between the processes of a node that names its holder, and ends with the process that took it."""

import contextlib
import fcntl
import json
import os
import stat
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from course_utils.scratch.presets import ScratchError

_descriptors: set[int] = set()
_guard = threading.Lock()  # a fork sees each descriptor either not at all, or listed


class Holder(NamedTuple):
    """The process that holds a lock, as it has written itself; pid 0 if it has not."""

    pid: int
    host: str
    since: datetime

    def __str__(self) -> str:
        who = f"process {self.pid} on {self.host}" if self.pid else "another process"
        return f"{who}, which has held the lock since {self.since:%H:%M:%S}"


Waits = Callable[[Holder], object]


@contextlib.contextmanager
def locked(path: Path, waits: Waits) -> Iterator[None]:
    """Hold a lock; wait for a process that has it. A link at its place is not followed.

    A child that is forked meanwhile does not keep it: it would otherwise hold it until it ends.

    Args:
        path: The lock file, which is never deleted: others may be waiting for it.
        waits: Called before this process waits for another one.
    """
    descriptor = _open(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waits(_holder(descriptor))
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _sign(descriptor)
        yield
    finally:
        _close(descriptor)


def _open(path: Path) -> int:
    with _guard:
        descriptor = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600
        )
        _descriptors.add(descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        _close(descriptor)
        raise ScratchError(f"{path} is no file: remove it, or choose another folder with --scratch")
    return descriptor


def _close(descriptor: int) -> None:
    with _guard:
        if descriptor in _descriptors:  # a forked child has closed it, and may use the number again
            _descriptors.remove(descriptor)
            os.close(descriptor)


def _sign(descriptor: int) -> None:
    with contextlib.suppress(OSError):  # a full disk: the lock holds without a name
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps([os.getpid(), os.uname().nodename]).encode(), 0)


def _holder(descriptor: int) -> Holder:
    since = datetime.fromtimestamp(os.fstat(descriptor).st_mtime).astimezone()
    try:
        pid, host = json.loads(os.pread(descriptor, 1000, 0))
        return Holder(int(pid), str(host), since)
    except (OSError, ValueError, TypeError):
        return Holder(0, "", since)


def _close_in_child() -> None:
    # Closed, not unlocked: to unlock would take the lock away from the parent.
    for descriptor in _descriptors:
        os.close(descriptor)
    _descriptors.clear()
    _guard.release()


os.register_at_fork(before=_guard.acquire, after_in_parent=_guard.release, after_in_child=_close_in_child)

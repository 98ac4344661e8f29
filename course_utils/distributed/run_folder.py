"""The folder of a run: its checkpoint, a lock against a second job, and a mark for a run that is complete."""

import errno
import fcntl
import os
import socket
import weakref
from pathlib import Path

from course_utils.distributed.checkpoint import Checkpoint, load_checkpoint, save_checkpoint

WITHOUT_LOCKS = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)


class FolderInUseError(RuntimeError):
    """Another job trains in the folder."""


class RunFolder:
    """The folder of a run, which one process of one job writes; the lock ends with that process.

    Where the file system has no locks, nothing stops a second job.

    Args:
        path: The folder; it is made if it is missing.

    Raises:
        FolderInUseError: Another process holds the lock.
    """

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._checkpoint, self._mark = path / "checkpoint.pt", path / "complete"
        weakref.finalize(self, os.close, _locked(path / "lock"))

    def load(self) -> Checkpoint | None:
        """Return the checkpoint, or None if there is none yet; CheckpointError if it is damaged."""
        return load_checkpoint(self._checkpoint)

    def save(self, checkpoint: Checkpoint, is_complete: bool) -> None:
        """Replace the checkpoint, then mark the run."""
        save_checkpoint(self._checkpoint, checkpoint)
        self.mark(is_complete)

    def mark(self, is_complete: bool) -> None:
        """Let the mark tell whether all epochs are done: one of a shorter training would end a longer one."""
        if is_complete:
            self._mark.touch()
        else:
            self._mark.unlink(missing_ok=True)


def _locked(path: Path) -> int:
    """Return the descriptor of a lock file that this process has locked and wrote its name into."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        _lock(descriptor, path)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in WITHOUT_LOCKS:
            return
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        holder = os.pread(descriptor, 200, 0).decode(errors="replace") or "another process"
        raise FolderInUseError(
            f"{path.parent}: {holder} trains in this folder. Wait until that job has ended, or give another "
            "--folder"
        ) from error

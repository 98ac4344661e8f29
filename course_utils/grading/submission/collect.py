"""Collecting what students handed in without trusting what they can still change.

A student owns their folder in the exchange: after the deadline they can rewrite its files and its time stamp,
or put a link there that the teacher's account would follow. The file system's change time (ctime) is the one
date an owner cannot set, and a file opened without following links is the student's own.
"""

import os
import pwd
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.exchange.default import ExchangeCollect

STAMP = "timestamp.txt"
TOLERANCE_S = 60
_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"


class SafeCollect(ExchangeCollect):
    """nbgrader's collect, which copies only the student's own plain files and dates them by their ctime."""

    def init_src(self) -> None:
        """Find the submissions, leaving out folders that carry another student's name."""
        super().init_src()
        self.src_records = [record for record in self.src_records if self._is_the_owners(record)]

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy one submission and state when it was last changed."""
        received = copy_own_files(Path(src), Path(dest), self.coursedir.max_file_size * 1000)
        stamp = Path(dest) / STAMP
        claimed = _read_stamp(stamp)
        stamp.write_text(received.strftime(_FORMAT))
        if claimed is None or abs((received - claimed).total_seconds()) > TOLERANCE_S:
            said = "%s: the time stamp says %s, but it was last changed at %s, which counts"
            self.log.warning(said, dest, claimed, received)

    def _is_the_owners(self, record: dict) -> bool:
        owner = _owner(Path(self.inbound_path) / record["filename"])
        if owner != record["username"]:
            self.log.warning("%s belongs to %s: left out", record["filename"], owner)
        return owner == record["username"]


def copy_own_files(src: Path, dest: Path, max_bytes: int) -> datetime:
    """Copy the plain files of a folder that its owner owns; links, devices and others' files stay behind.

    Args:
        src: A folder that its owner may be changing at this moment.
        dest: The copy's place; it does not exist yet.
        max_bytes: Files larger than this stay behind.

    Returns:
        When the folder or the newest of the copied files was last changed, in UTC.
    """
    folder = src.lstat()
    dest.mkdir(parents=True)
    newest = folder.st_ctime
    for relative, fd in _plain_files(src):
        with os.fdopen(fd, "rb") as source:
            status = os.fstat(fd)
            if (
                status.st_uid != folder.st_uid
                or not stat.S_ISREG(status.st_mode)
                or status.st_size > max_bytes
            ):
                continue
            target = dest / relative
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as copy:
                shutil.copyfileobj(source, copy)
            newest = max(newest, status.st_ctime)
    return datetime.fromtimestamp(newest, UTC)


def _plain_files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Open each file below a folder without following a link anywhere on the way."""
    for root, _, names, dir_fd in os.fwalk(folder, follow_symlinks=False):
        for name in sorted(names):
            try:
                # Non-blocking, because opening a pipe that nobody writes to would wait for ever.
                fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=dir_fd)
            except OSError:
                continue
            yield Path(root).relative_to(folder) / name, fd


def _read_stamp(path: Path) -> datetime | None:
    try:
        return datetime.strptime(path.read_text().strip(), _FORMAT).replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None


def _owner(path: Path) -> str:
    uid = path.lstat().st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"

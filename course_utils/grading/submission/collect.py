"""Collects submissions from the exchange, where their owners can still change them.

A student owns their folder there: after the deadline they can rewrite its files and its time stamp, or add a
link that the teacher's account would follow. The inode change time (ctime) is the one date that an owner
cannot set, and a file opened without following links is the student's own.
"""

from __future__ import annotations

import os
import pwd
import shutil
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from nbgrader.exchange.default import ExchangeCollect

from course_utils.grading.submission.sanitize import STAMP, STAMP_FORMAT

TOLERANCE_S = 60


class Record(TypedDict):
    """A submission in the exchange, as nbgrader lists it; it has more keys."""

    username: str
    filename: str


class SafeCollect(ExchangeCollect):  # type: ignore[misc]  # nbgrader has no type information
    """nbgrader's collect, which copies only the student's own regular files and dates them by their ctime."""

    def init_src(self) -> None:
        """Find the submissions, without folders that another student owns."""
        super().init_src()
        self.src_records: list[Record] = list(filter(self._belongs_to_student, self.src_records))

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy one submission and write when it was last changed."""
        received = copy_own_files(Path(src), Path(dest), self.coursedir.max_file_size * 1000)
        stamp = Path(dest) / STAMP
        claimed = _read_stamp(stamp)
        stamp.write_text(received.strftime(STAMP_FORMAT))
        if claimed is None or abs((received - claimed).total_seconds()) > TOLERANCE_S:
            message = "%s: the time stamp says %s, but it was last changed at %s, which counts"
            self.log.warning(message, dest, claimed, received)

    def _belongs_to_student(self, record: Record) -> bool:
        owner = _owner(Path(self.inbound_path) / record["filename"])
        if owner != record["username"]:
            self.log.warning("%s belongs to %s: left out", record["filename"], owner)
        return owner == record["username"]


def copy_own_files(src: Path, dest: Path, max_bytes: int) -> datetime:
    """Copy the regular files that a folder's owner owns; skip links, devices and others' files.

    Args:
        src: A folder that its owner may be changing concurrently.
        dest: Where to copy it; it must not exist.
        max_bytes: Larger files are skipped.

    Returns:
        When the folder or the newest of the copied files was last changed, in UTC.
    """
    folder = src.lstat()
    dest.mkdir(parents=True)
    newest = folder.st_ctime
    for relative, fd in _open_files(src):
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


def _open_files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Open each file below a folder without following any link."""
    for root, _, names, dir_fd in os.fwalk(folder, follow_symlinks=False):
        for name in sorted(names):
            try:
                # Non-blocking: opening a pipe without a writer would block.
                fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=dir_fd)
            except OSError:
                continue
            yield Path(root).relative_to(folder) / name, fd


def _read_stamp(path: Path) -> datetime | None:
    try:
        return datetime.strptime(path.read_text().strip(), STAMP_FORMAT).replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None


def _owner(path: Path) -> str:
    uid = path.lstat().st_uid
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"

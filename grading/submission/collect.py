"""Collects submissions from the exchange, where their owners can still change them.

A student owns their folder there: after the deadline they can rewrite its files and its time stamp, or add a
link that the teacher's account would follow. The inode change time (ctime) is the one date that an owner
cannot set, and a file opened without following links is the student's own.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypedDict

from course_utils.exchange.explicit_root import ExchangeCollect
from grading.submission.findings import Finding
from grading.submission.folder_reader import read_folder
from grading.submission.sanitize import (
    STAMP,
    TOLERANCE_S,
    make_stamp,
    parse_stamp,
    sanitize_folder,
    write_folder,
    write_note,
)

TOLERANCE = timedelta(seconds=TOLERANCE_S)


class Record(TypedDict):
    """A submission in the exchange, as nbgrader lists it."""

    username: str
    filename: str
    timestamp: datetime


class SafeCollect(ExchangeCollect):
    """nbgrader's collect, which copies only the student's own regular files and dates them by their ctime.

    What cannot be collected is logged, and the others are collected; then collecting fails as a whole.
    """

    def init_src(self) -> None:
        """Find the submissions, without those whose folder another student owns."""
        self.failures = 0
        super().init_src()
        self.src_records: list[Record] = [record for record in self.src_records if record["username"]]

    def _path_to_record(self, path: str) -> Record:
        """Describe a folder in the exchange; students choose its name, so one without a user is left out."""
        name = Path(path).name
        claimed, stamp = name.rsplit("+", 3)[0], (name.rsplit("+", 3)[2:] or [""])[0]
        owner, time = _owner(Path(path)), parse_stamp(os.fsencode(stamp))
        if owner != claimed or time is None:
            reason = f"belongs to {owner}" if owner != claimed else "has no valid time in its name"
            self.log.warning("%r %s: left out", name, reason)
        # nbgrader takes each user's newest record: one in another's name must not hide their own.
        return {
            "username": claimed if owner == claimed and time else "",
            "filename": name,
            "timestamp": time or datetime.min,
        }

    def copy_files(self) -> None:
        """Copy the submissions; then fail if one could not be copied.

        Raises:
            ExchangeError: A submission could not be copied; its message is in the log.
        """
        for record in self.src_records:
            lesson, submitted = self.coursedir.assignment_id, self.coursedir.submitted_directory
            copy = Path(self.coursedir.format_path(submitted, record["username"], lesson))
            if os.path.lexists(copy):  # nbgrader reads its time stamp
                with self._isolated(record["filename"]):
                    sanitize_folder(copy, lesson)
        super().copy_files()
        if self.failures:
            self.fail(f"{self.failures} submissions were not collected; the messages are above.")

    def do_copy(self, src: str, dest: str, log: object = None) -> None:
        """Copy one submission and write when it was last changed."""
        with self._isolated(src):
            received, claimed = copy_own_files(Path(src), Path(dest))
            if claimed is None or abs(received - claimed) > TOLERANCE:
                message = "%s: the time stamp says %s, but it was last changed at %s, which counts"
                self.log.warning(message, dest, claimed, received)

    @contextmanager
    def _isolated(self, what: str) -> Iterator[None]:
        try:
            yield
        except Exception:
            self.failures += 1
            self.log.exception("%r could not be collected", what)


def copy_own_files(src: Path, dest: Path) -> tuple[datetime, datetime | None]:
    """Copy the regular files that a folder's owner owns, with a note of what was left out.

    Args:
        src: A folder that its owner may be changing concurrently.
        dest: Where to copy it; it must not exist.

    Returns:
        When the folder or the newest of the copied files was last changed, and what its time stamp claims, in
        UTC.
    """
    folder = src.lstat()
    found = read_folder(src, (STAMP,), own_files_only=True)
    received = max(folder.st_ctime, found.newest)
    claimed = parse_stamp(found.files.get(STAMP, b""))
    claimed = claimed and claimed.replace(tzinfo=UTC)
    time = datetime.fromtimestamp(received, UTC)
    if claimed is not None and abs(time - claimed) > TOLERANCE:
        what = f"The time stamp says {claimed:%Y-%m-%d %H:%M} UTC, but the submission was last changed at"
        found.findings.append(Finding("suspicious", f"{what} {time:%Y-%m-%d %H:%M}, which counts."))
    found.files[STAMP] = make_stamp(received)
    write_note(found)
    dest.mkdir(parents=True)
    write_folder(dest, found.files, received)
    return time, claimed


def _owner(path: Path) -> str:
    try:
        uid = path.lstat().st_uid
    except OSError as error:
        return f"nobody ({error.strerror})"
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"

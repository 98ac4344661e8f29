"""Makes a submitted folder safe for nbgrader, which follows links and fails on unreadable time stamps.

A folder that holds anything but plain files is replaced by a new one with what could be read, and a note of
what was left out; the original stays beside it. So nothing in it has to be removed or repaired in place.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from nbgrader.utils import parse_utc

from course_utils.grading.submission.findings import Finding
from course_utils.grading.submission.folder_reader import NOTEBOOK, FolderContents, read_folder

STAMP = "timestamp.txt"
STAMP_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"
MAX_STAMP_BYTES = 100
NOTE = "removed-by-the-grader.txt"
MAX_NOTE_LINES = 200
KINDS = ("damaged", "tampered")
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def sanitize_folder(folder: Path, lesson: str) -> None:
    """Replace a folder by what can be read of it, with a valid time stamp and the notebook's right name.

    Args:
        folder: The teacher's copy of one submission; a folder that is in order stays as it is.
        lesson: Its lesson; a single notebook of another name is renamed to it.
    """
    found = read_folder(folder, (f"{lesson}{NOTEBOOK}", NOTE, STAMP), make_readable=True)
    before = dict(found.files)
    _repair_stamp(found)
    _repair_notebook(found, f"{lesson}{NOTEBOOK}")
    if not found.complete or found.files != before:
        write_note(found)
        _replace(folder, found.files)


def write_note(found: FolderContents) -> None:
    """Add what was left out to the note among a folder's files."""
    findings = [*read_note(found.files), *found.findings]
    lines = [f"{finding.kind}: {finding.what}\n" for finding in findings]
    if lines:
        found.files[NOTE] = "".join(lines).encode("utf-8", "backslashreplace")


def read_note(files: dict[str, bytes]) -> list[Finding]:
    """Return what an earlier `sanitize_folder` has left out."""
    lines = files.get(NOTE, b"").decode("utf-8", "replace").splitlines()[:MAX_NOTE_LINES]
    parts = [line.partition(": ") for line in lines]
    return [Finding(kind, what[:300]) for kind, _, what in parts if kind in KINDS and what]


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Write files into a folder."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def parse_stamp(data: bytes) -> datetime | None:
    """Return the UTC time in a time stamp; None where it is none."""
    if len(data) > MAX_STAMP_BYTES:  # the parser takes quadratic time
        return None
    try:
        time: datetime | None = parse_utc(data.decode().strip())
    except Exception:  # of the date parser, which raises many kinds on text that is no date
        return None
    return time


def _repair_stamp(found: FolderContents) -> None:
    data = found.files.get(STAMP)
    if STAMP in found.left_out:  # a missing one would mean: not late
        found.files[STAMP] = make_stamp(found.newest)
    if data is None or _is_past(parse_stamp(data)):
        return
    shown = data[:60].decode("utf-8", "replace")
    found.findings.append(Finding("tampered", f"{STAMP!r} was an invalid time stamp: {shown!r}."))
    found.files[STAMP] = make_stamp(found.newest)


def _is_past(time: datetime | None) -> bool:
    # A file server's clock may be ahead.
    return time is not None and time <= datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=1)


def make_stamp(seconds: float) -> bytes:
    """Return the contents of a time stamp's file."""
    return datetime.fromtimestamp(seconds, UTC).strftime(STAMP_FORMAT).encode()


def _repair_notebook(found: FolderContents, expected: str) -> None:
    if expected in found.files:
        return
    others = [name for name in found.files if name.endswith(NOTEBOOK)]
    if len(others) == 1:
        found.files[expected] = found.files.pop(others[0])
        found.findings.append(Finding("damaged", f"The notebook was named {others[0]!r}."))
    else:
        # nbgrader needs a file; `restore_notebook` reports that an empty one is not a notebook.
        found.files[expected] = b""


def _replace(folder: Path, files: dict[str, bytes]) -> None:
    """Put a new folder in the place of one that is kept beside it, under a hidden name."""
    with tempfile.TemporaryDirectory(prefix=".clean-", dir=folder.parent) as scratch:
        new = Path(scratch) / folder.name
        new.mkdir()
        write_folder(new, files)
        names = (folder.with_name(f".{folder.name}.original-{number}") for number in count(1))
        original = next(path for path in names if not os.path.lexists(path))
        if _exchange(new, folder):
            new.rename(original)
        else:
            folder.rename(original)
            new.rename(folder)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders atomically; return False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    paths = (_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other))
    return bool(rename(*paths, _RENAME_EXCHANGE) == 0)

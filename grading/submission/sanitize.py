"""Makes a submitted folder safe for nbgrader, which follows links and fails on unreadable time stamps.

A folder that holds anything but plain files is replaced by a new one with what could be read, and a note of
what was left out; the original stays beside it. So nothing in it has to be removed or repaired in place.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from nbgrader.utils import parse_utc

from grading.submission.findings import Finding
from grading.submission.folder_reader import NOTEBOOK, FolderContents, read_folder
from grading.submission.lesson_files import make_way
from grading.submission.notebook_choice import choose_notebook, is_whole

STAMP = "timestamp.txt"
STAMP_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"
MAX_STAMP_BYTES = 100
NOTE = "removed-by-the-grader.txt"
MAX_NOTE_LINES = 200
KINDS = ("damaged", "tampered", "suspicious")
TOLERANCE_S = 60
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


def sanitize_folder(folder: Path, lesson: str, lesson_files: Iterable[str] = (), stubs: int = 0) -> None:
    """Replace a folder by what can be read of it, with a valid time stamp and the notebook's right name.

    Args:
        folder: The teacher's copy of one submission; a folder that is in order stays as it is.
        lesson: Its lesson; a notebook of another name is renamed to it.
        lesson_files: Relative names of the lesson's own files.
        stubs: How often a stub occurs in the released notebook, see `choose_notebook`.
    """
    found = read_folder(folder, (f"{lesson}{NOTEBOOK}", NOTE, STAMP), make_readable=True)
    before = dict(found.files)
    _repair_stamp(found)
    _repair_notebook(found, f"{lesson}{NOTEBOOK}", set(lesson_files), stubs)
    found.findings += make_way(found.files, lesson_files)
    _compare_times(found)
    write_note(found)
    if not found.complete or found.files != before:
        _replace(folder, found)


def write_note(found: FolderContents) -> None:
    """Add what was left out to the note among a folder's files."""
    findings = [*read_note(found.files), *found.findings]
    lines = dict.fromkeys(f"{finding.kind}: {finding.what}\n" for finding in findings)
    if lines:
        found.files[NOTE] = "".join(lines).encode("utf-8", "backslashreplace")


def read_note(files: dict[str, bytes]) -> list[Finding]:
    """Return what an earlier `sanitize_folder` has left out."""
    lines = files.get(NOTE, b"").decode("utf-8", "replace").splitlines()[:MAX_NOTE_LINES]
    parts = [line.partition(": ") for line in lines]
    return [Finding(kind, what[:300]) for kind, _, what in parts if kind in KINDS and what]


def write_folder(folder: Path, files: dict[str, bytes], modified: float) -> None:
    """Write files into a folder, with a time of modification that says when their owner wrote them."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (modified, modified))


def parse_stamp(data: bytes) -> datetime | None:
    """Return the UTC time in a time stamp; None where it is none."""
    if len(data) > MAX_STAMP_BYTES:  # the parser takes quadratic time
        return None
    try:
        text = data.decode("utf-8-sig").strip()
        time: datetime | None = parse_utc(text) if text.isprintable() else None
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
    kind = "tampered" if data.strip(b"\0 \r\n\t") else "damaged"  # a full disk leaves an empty file
    found.findings.append(Finding(kind, f"{STAMP!r} was an invalid time stamp: {shown!r}."))
    found.files[STAMP] = make_stamp(found.newest)


def _is_past(time: datetime | None) -> bool:
    # A file server's clock may be ahead.
    return time is not None and time <= datetime.now(UTC).replace(tzinfo=None) + timedelta(hours=1)


def _compare_times(found: FolderContents) -> None:
    """Report a time stamp that is older than the files, as one written by hand may be."""
    stamp = parse_stamp(found.files.get(STAMP, b""))
    if stamp is None or found.modified - stamp.replace(tzinfo=UTC).timestamp() < TOLERANCE_S:
        return
    modified = datetime.fromtimestamp(found.modified, UTC)
    what = f"{STAMP!r} says {stamp:%Y-%m-%d %H:%M} UTC, but a file was written at {modified:%Y-%m-%d %H:%M}"
    found.findings.append(Finding("suspicious", f"{what}: was it copied since, or the time stamp changed?"))


def make_stamp(seconds: float) -> bytes:
    """Return the contents of a time stamp's file."""
    return datetime.fromtimestamp(seconds, UTC).strftime(STAMP_FORMAT).encode()


def _repair_notebook(found: FolderContents, expected: str, lesson_files: set[str], stubs: int) -> None:
    chosen = choose_notebook(found.files, expected, stubs)
    if chosen is None:
        # nbgrader needs a file; `restore_notebook` reports that an empty one is not a notebook.
        if there := sorted(found.files.keys() - lesson_files - {STAMP, NOTE}):
            shown = ", ".join(repr(name[:60]) for name in there[:3])
            more = f" and {len(there) - 3} more" if len(there) > 3 else ""
            found.findings.append(Finding("damaged", f"There is no notebook, only {shown}{more}."))
        found.files[expected] = b""
    elif chosen != expected:
        reason = _why_another(found.files.get(expected))
        found.findings.append(
            Finding("damaged", f"{expected!r} {reason}; the notebook {chosen!r} was graded instead.")
        )
        found.files[expected] = found.files.pop(chosen)


def _why_another(expected: bytes | None) -> str:
    if expected is None:
        return "is missing"
    return "has no answers" if is_whole(expected) else "is empty or cut off"


def _replace(folder: Path, found: FolderContents) -> None:
    """Put a new folder in the place of one that is kept beside it, under a hidden name."""
    with tempfile.TemporaryDirectory(prefix=".clean-", dir=folder.parent) as scratch:
        new = Path(scratch) / folder.name
        new.mkdir()
        write_folder(new, found.files, found.modified)
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

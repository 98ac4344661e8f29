"""Makes a submitted folder safe for nbgrader, which follows links and fails on unreadable time stamps."""

from __future__ import annotations

import os
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

STAMP = "timestamp.txt"
STAMP_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"
MAX_STAMP_BYTES = 100
NOTE = ".removed.txt"
MAX_NAME_BYTES = 200  # room for the name of a note


def sanitize_folder(folder: Path, lesson: str) -> None:
    """Replace links and devices by notes, an invalid time stamp by the files' newest, and a wrong name.

    Args:
        folder: The teacher's copy of one submission.
        lesson: Its lesson; a single notebook of another name is renamed to it.
    """
    _replace_irregular_files(folder)
    _repair_stamp(folder)
    _repair_name(folder, lesson)


def _replace_irregular_files(folder: Path) -> None:
    for parent, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(parent) / name
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                continue
            text = f"a link to {path.readlink()}" if stat.S_ISLNK(mode) else "not a regular file"
            path.unlink()
            _write_note(path, text)


def _write_note(path: Path, text: str) -> None:
    """Leave a note in place of a file; names and link targets are any bytes."""
    name = os.fsencode(path.name)[:MAX_NAME_BYTES].decode("utf-8", "replace")
    path.with_name(f"{name}{NOTE}").write_text(text, errors="backslashreplace")


def _repair_stamp(folder: Path) -> None:
    stamp = folder / STAMP
    if not stamp.exists() or _is_valid(stamp):
        return
    if stamp.is_dir():
        shutil.rmtree(stamp)
        _write_note(stamp, "a folder in the place of the time stamp")
    else:
        with stamp.open("rb") as file:
            _write_note(stamp, f"an invalid time stamp: {file.read(60).decode('utf-8', 'replace')!r}")
    newest = max(path.stat().st_mtime for path in folder.rglob("*") if path.is_file())
    stamp.write_text(datetime.fromtimestamp(newest, UTC).strftime(STAMP_FORMAT))


def _is_valid(stamp: Path) -> bool:
    if not stamp.is_file() or stamp.stat().st_size > MAX_STAMP_BYTES:  # the parser takes quadratic time
        return False
    try:
        time = parse_utc(stamp.read_text().strip())
        return time is not None and time <= datetime.now(UTC).replace(tzinfo=None)
    except Exception:  # of the date parser, which raises many kinds on text that is no date
        return False


def _repair_name(folder: Path, lesson: str) -> None:
    expected = folder / f"{lesson}.ipynb"
    others = sorted(path for path in folder.rglob("*.ipynb") if path.is_file())
    if expected.exists():
        return
    if len(others) == 1:
        shutil.copy(others[0], expected)
        _write_note(others[0], f"the notebook, under the name {others[0].name}")
        others[0].unlink()
    else:
        # nbgrader needs a file; `restore_notebook` reports that an empty one is not a notebook.
        expected.touch()

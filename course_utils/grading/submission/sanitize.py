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
NOTE = ".removed.txt"


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
            Path(f"{path}{NOTE}").write_text(text)


def _repair_stamp(folder: Path) -> None:
    stamp = folder / STAMP
    if not stamp.exists():
        return
    try:
        time = parse_utc(stamp.read_text().strip())
        valid = time is not None and time <= datetime.now(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, TypeError, AttributeError, OSError):
        valid = False
    if not valid:
        _keep_note(stamp)
        newest = max(path.stat().st_mtime for path in folder.rglob("*") if path.is_file())
        stamp.write_text(datetime.fromtimestamp(newest, UTC).strftime(STAMP_FORMAT))


def _keep_note(stamp: Path) -> None:
    text = stamp.read_bytes()[:60].decode("utf-8", "replace")
    Path(f"{stamp}{NOTE}").write_text(f"an invalid time stamp: {text!r}")


def _repair_name(folder: Path, lesson: str) -> None:
    expected = folder / f"{lesson}.ipynb"
    others = sorted(folder.rglob("*.ipynb"))
    if expected.exists():
        return
    if len(others) == 1:
        shutil.copy(others[0], expected)
        Path(f"{others[0]}{NOTE}").write_text(f"the notebook, under the name {others[0].name}")
        others[0].unlink()
    else:
        # nbgrader needs a file; `restore_notebook` reports that an empty one is not a notebook.
        expected.touch()

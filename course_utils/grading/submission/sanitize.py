"""Makes a submitted folder safe for nbgrader, which follows links and stops at odd time stamps."""

from __future__ import annotations

import os
import shutil
import stat
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

STAMP = "timestamp.txt"
NOTE = ".removed.txt"


def sanitize_folder(folder: Path, lesson: str) -> None:
    """Replaces links and devices by notes, an unreadable time stamp by the files' own, and a lost name.

    Args:
        folder: The teacher's copy of one submission.
        lesson: Its lesson; a single notebook of another name gets this one.
    """
    _replace_odd_files(folder)
    _mend_stamp(folder)
    _mend_name(folder, lesson)


def _replace_odd_files(folder: Path) -> None:
    for parent, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(parent) / name
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                continue
            said = f"a link to {path.readlink()}" if stat.S_ISLNK(mode) else "no ordinary file"
            path.unlink()
            Path(f"{path}{NOTE}").write_text(said)


def _mend_stamp(folder: Path) -> None:
    stamp = folder / STAMP
    if not stamp.exists():
        return
    try:
        when = parse_utc(stamp.read_text().strip())
        sound = when is not None and when <= datetime.now(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, TypeError, AttributeError, OSError):
        sound = False
    if not sound:
        _keep(stamp)
        newest = max(path.stat().st_mtime for path in folder.rglob("*") if path.is_file())
        stamp.write_text(datetime.fromtimestamp(newest, UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC"))


def _keep(stamp: Path) -> None:
    said = stamp.read_bytes()[:60].decode("utf-8", "replace")
    Path(f"{stamp}{NOTE}").write_text(f"a time stamp that cannot be: {said!r}")


def _mend_name(folder: Path, lesson: str) -> None:
    expected = folder / f"{lesson}.ipynb"
    others = sorted(folder.rglob("*.ipynb"))
    if expected.exists():
        return
    if len(others) == 1:
        shutil.copy(others[0], expected)
        Path(f"{others[0]}{NOTE}").write_text(f"the notebook under another name: {others[0].name}")
        others[0].unlink()
    else:
        # An empty file: nbgrader finds something, the restore_notebook finds that it is no notebook.
        expected.touch()

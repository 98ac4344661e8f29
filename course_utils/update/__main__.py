"""Bring this clone to the newest version of the course: `make update`. Your answers stay."""

import argparse
import json
import sys
from pathlib import Path

from course_utils.update.merge import NotANotebookError, merge_notebooks, read_notebook
from course_utils.update.repository import Update, UpdateError, update_clone


def main(arguments: list[str] | None = None) -> int:
    """Update the clone, or merge one notebook for git."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.update", description=__doc__)
    parser.add_argument("--clone", type=Path, default=Path.cwd(), help="the clone (default: here)")
    parser.add_argument(
        "--merge",
        type=Path,
        nargs=3,
        metavar=("BASE", "MINE", "THEIRS"),
        help="merge one notebook into MINE; git calls this (merge.notebook.driver)",
    )
    options = parser.parse_args(arguments)
    if options.merge:
        return _merge_file(*options.merge)
    try:
        update = update_clone(options.clone.absolute())
    except UpdateError as error:
        sys.stderr.write(f"Not updated: {error}\n")
        return 1
    sys.stdout.write(_told(update))
    return 0


def _merge_file(base: Path, mine: Path, theirs: Path) -> int:
    """Write the merged notebook into `mine`; a status other than 0 tells git that there is a conflict."""
    try:
        # git gives an empty file where the two versions have no common one.
        old = read_notebook(base) if base.stat().st_size else {"cells": []}
        merged = merge_notebooks(old, read_notebook(mine), read_notebook(theirs))
    except NotANotebookError:
        return 1
    mine.write_text(f"{json.dumps(merged, indent=1, ensure_ascii=False)}\n", encoding="utf-8")
    return 0


def _told(update: Update) -> str:
    if update.commit is None:
        return "This is the newest version of the course.\n"
    lines = ["Updated. Your answers are in the new version."]
    lines += [f"  {name}: merged cell by cell" for name in update.notebooks]
    lines += [
        f"  {name}: the course's new version; yours is shown by `git show {update.commit}:{name}`"
        for name in update.replaced
    ]
    lines += [f"  {name}: a notebook of yours that could not be read, as it was" for name in update.set_aside]
    lines += [f"  {update.script}"] if update.script else []
    lines.append(f"All of your files as they were: `git show --stat {update.commit}`")
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())

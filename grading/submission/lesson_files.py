"""Renames what a student has put in the place of the lesson's own files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from grading.submission.findings import Finding

PREFIX = "own-"


def make_way(files: dict[str, bytes], lesson_files: Iterable[str]) -> list[Finding]:
    """Rename a student's file where the lesson has a folder, and their folder where it has a file.

    The lesson's files replace those of the same name when a submission is graded; that needs their folders.

    Args:
        files: Contents by relative name; changed in place.
        lesson_files: Relative names of the lesson's files.

    Returns:
        What was renamed.
    """
    wanted = set(lesson_files)
    folders = {str(parent) for name in wanted for parent in PurePosixPath(name).parents}
    findings = []
    for name in sorted(files):
        parents = [str(parent) for parent in PurePosixPath(name).parents]
        if name in folders or not wanted.isdisjoint(parents):
            findings.append(Finding("damaged", f"{name!r} was renamed: the lesson has another file there."))
            files[_free_name(f"{PREFIX}{name}", files)] = files.pop(name)
    return findings


def _free_name(name: str, files: dict[str, bytes]) -> str:
    return name if name not in files else _free_name(f"{PREFIX}{name}", files)

"""The files of a submitted folder, without links, devices and oversized files."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from course_utils.grading.submission.findings import Finding
from course_utils.grading.submission.sanitize import NOTE, STAMP

MAX_FILES, MAX_FILE_BYTES, MAX_ALL_BYTES = 200, 16 * 2**20, 64 * 2**20


class Submission:
    """What one student submitted for one lesson.

    Args:
        folder: Its folder.
        student: The student's id.
        lesson: The lesson's name.

    Attributes:
        findings: Files that were left out or renamed.
    """

    def __init__(self, folder: Path, student: str, lesson: str) -> None:
        self.folder, self.student, self.lesson = folder, student, lesson
        self.findings: list[Finding] = []
        self._contents = self._read()
        self._notebook = self._find_notebook()

    def notebook(self) -> bytes | None:
        """Return the bytes of the lesson's notebook; None where there is none."""
        return self._notebook

    def files(self) -> dict[str, bytes]:
        """Return the contents of all other files, by relative name."""
        skip = (".ipynb", NOTE, STAMP)
        return {name: data for name, data in self._contents.items() if not name.endswith(skip)}

    def digest(self) -> str:
        """Return a digest of all that was submitted."""
        digest = hashlib.sha256()
        for name, data in sorted(self._contents.items()):
            digest.update(os.fsencode(name) + f"\0{len(data)}\0".encode() + data)
        return digest.hexdigest()[:16]

    def _read(self) -> dict[str, bytes]:
        contents: dict[str, bytes] = {}
        for name in _names(self.folder):
            self._add(name, contents)
        return contents

    def _add(self, name: str, contents: dict[str, bytes]) -> None:
        path = self.folder / name
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            self.findings.append(Finding("tampered", f"{name!r} is a link; it was not followed."))
        elif not stat.S_ISREG(mode):
            self.findings.append(Finding("tampered", f"{name!r} is not a regular file; it was left out."))
        elif path.stat().st_nlink > 1 and path.stat().st_uid != self.folder.stat().st_uid:
            self.findings.append(Finding("tampered", f"{name!r} is another user's file; it was left out."))
        elif len(contents) >= MAX_FILES or _is_too_large(path, contents):
            self.findings.append(
                Finding("damaged", f"{name!r} exceeds the size of a submission; it was left out.")
            )
        else:
            contents[name] = path.read_bytes()
            self._read_note(name, contents[name])

    def _read_note(self, name: str, data: bytes) -> None:
        """Report what `sanitize_folder` removed and replaced by a note."""
        if name.endswith(NOTE):
            text = data[:200].decode("utf-8", "replace")
            kind = "damaged" if text.startswith("the notebook") else "tampered"
            self.findings.append(Finding(kind, f"{name.removesuffix(NOTE)!r} was {text}."))

    def _find_notebook(self) -> bytes | None:
        expected = f"{self.lesson}.ipynb"
        if expected in self._contents:
            return self._contents[expected]
        others = [name for name in self._contents if name.endswith(".ipynb")]
        if len(others) != 1:
            return None
        self.findings.append(Finding("damaged", f"The notebook was named {others[0]!r}."))
        return self._contents[others[0]]


def _names(folder: Path) -> list[str]:
    names = []
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(parent) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in links)
        names += [
            str((Path(parent) / name).relative_to(folder)) for name in [*files, *links] if name[0] != "."
        ]
    return sorted(names)


def _is_too_large(path: Path, contents: dict[str, bytes]) -> bool:
    size = path.stat().st_size
    limit = MAX_ALL_BYTES if path.suffix == ".ipynb" else MAX_FILE_BYTES
    return size > limit or size + sum(map(len, contents.values())) > 2 * MAX_ALL_BYTES

"""A submitted folder, read without trusting it: links, devices, odd sizes and names."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from course_utils.grading.submission.restore import Finding
from course_utils.grading.submission.sanitize import NOTE, STAMP

MAX_FILES, MAX_FILE_BYTES, MAX_ALL_BYTES = 200, 16 * 2**20, 64 * 2**20


class Submission:
    """What one student handed in for one lesson.

    Args:
        folder: Where it lies.
        student: The student's id.
        lesson: The lesson's name.

    Attributes:
        findings: What is odd about its files.
    """

    def __init__(self, folder: Path, student: str, lesson: str) -> None:
        self.folder, self.student, self.lesson = folder, student, lesson
        self.findings: list[Finding] = []
        self._contents = self._read()
        self._notebook = self._find_notebook()

    def notebook(self) -> bytes | None:
        """The bytes of the lesson's notebook; None where there is none."""
        return self._notebook

    def files(self) -> dict[str, bytes]:
        """All other files, by relative name."""
        skip = (".ipynb", NOTE, STAMP)
        return {name: data for name, data in self._contents.items() if not name.endswith(skip)}

    def digest(self) -> str:
        """Changes with any byte of what was submitted."""
        digest = hashlib.sha256()
        for name, data in sorted(self._contents.items()):
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()[:16]

    def _read(self) -> dict[str, bytes]:
        contents: dict[str, bytes] = {}
        for name in _names(self.folder):
            self._take(name, contents)
        return contents

    def _take(self, name: str, contents: dict[str, bytes]) -> None:
        path = self.folder / name
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            self.findings.append(Finding("tampered", f"{name!r} is a link; it was not followed."))
        elif not stat.S_ISREG(mode):
            self.findings.append(Finding("tampered", f"{name!r} is no ordinary file; it was left out."))
        elif path.stat().st_nlink > 1 and path.stat().st_uid != self.folder.stat().st_uid:
            self.findings.append(Finding("tampered", f"{name!r} is another user's file; it was left out."))
        elif len(contents) >= MAX_FILES or _too_big(path, contents):
            self.findings.append(
                Finding("damaged", f"{name!r} is more than a submission may hold; it was left out.")
            )
        else:
            contents[name] = path.read_bytes()
            self._note(name, contents[name])

    def _note(self, name: str, data: bytes) -> None:
        """Reads what `sanitize_folder` left in the place of something that it removed."""
        if name.endswith(NOTE):
            said = data[:200].decode("utf-8", "replace")
            kind = "damaged" if said.startswith("the notebook") else "tampered"
            self.findings.append(Finding(kind, f"{name.removesuffix(NOTE)!r} was {said}."))

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


def _too_big(path: Path, contents: dict[str, bytes]) -> bool:
    size = path.stat().st_size
    limit = MAX_ALL_BYTES if path.suffix == ".ipynb" else MAX_FILE_BYTES
    return size > limit or size + sum(map(len, contents.values())) > 2 * MAX_ALL_BYTES

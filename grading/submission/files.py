"""The files of a submitted folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

from grading.submission.findings import Finding
from grading.submission.folder_reader import NOTEBOOK, read_folder
from grading.submission.notebook_choice import choose_notebook
from grading.submission.sanitize import NOTE, STAMP, read_note


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
        self._expected = f"{lesson}{NOTEBOOK}"
        found = read_folder(folder, (self._expected, NOTE, STAMP))
        self._contents = found.files
        self.findings: list[Finding] = [*found.findings, *read_note(self._contents)]
        self._notebook = self._find_notebook()

    def notebook(self) -> bytes | None:
        """Return the bytes of the lesson's notebook; None where there is none."""
        return self._notebook

    def files(self) -> dict[str, bytes]:
        """Return the contents of all other files, by relative name."""
        return {
            name: data
            for name, data in self._contents.items()
            if not name.endswith(NOTEBOOK) and name not in (NOTE, STAMP)
        }

    def digest(self) -> str:
        """Return a digest of all that was submitted."""
        digest = hashlib.sha256()
        for name, data in sorted(self._contents.items()):
            digest.update(f"{name}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()[:16]

    def _find_notebook(self) -> bytes | None:
        chosen = choose_notebook(self._contents, self._expected)
        if chosen is None:
            return None
        if chosen != self._expected:
            self.findings.append(Finding("damaged", f"The notebook was named {chosen!r}."))
        return self._contents[chosen]

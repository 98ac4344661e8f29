"""Stored results, one JSON file each: written atomically and durably, by any number of processes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from course_utils.system import write_atomically
from grading.course.result import GRADER_FAULT, Result, Summary, Task, Versions

T = TypeVar("T")
PRIVATE = 0o600


@dataclass(frozen=True)
class ResultStore:
    """The results in one folder, `<folder>/<lesson>/<student>.json`.

    A reader sees the old or the new result, never a partial one, whenever a writer is killed.
    """

    folder: Path

    def path(self, task: Task) -> Path:
        """Return the path of a result."""
        return self.folder / task.lesson / f"{task.student}.json"

    def read(self, task: Task) -> Result | None:
        """Return a stored result; None where there is none, or none that can be read."""
        return self._read(task, Result)

    def read_summary(self, task: Task) -> Summary | None:
        """Return a stored result without its cells, as `read` does."""
        return self._read(task, Summary)

    def _read(self, task: Task, form: type[T]) -> T | None:
        try:
            return msgspec.json.decode(self.path(task).read_bytes(), type=form)
        except (OSError, ValueError, RecursionError):  # msgspec's errors are ValueErrors
            return None

    def write(self, result: Result) -> None:
        """Store a result in place of an older one."""
        path = self.path(Task(result["lesson"], result["student"]))
        path.parent.mkdir(parents=True, exist_ok=True)
        data = msgspec.json.format(msgspec.json.encode(result), indent=1)
        write_atomically(path, [data], mode=PRIVATE)

    def remove(self, task: Task) -> None:
        """Remove a result, if there is one."""
        self.path(task).unlink(missing_ok=True)

    def up_to_date(self, task: Task, versions: Versions) -> Result | None:
        """Return the stored result if it holds for these versions; a fault of the grader never does."""
        result = self.read(task)
        if result is None or result["status"] == GRADER_FAULT:
            return None
        return result if result["provenance"].items() >= versions.items() else None

    def mark_written(self, task: Task, settings: str = "") -> None:
        """Record that the gradebook holds the stored result, written with these settings."""
        self._marker(task).write_text(self._digest(task, settings))

    def is_unwritten(self, task: Task, settings: str = "") -> bool:
        """Say whether there is a result that the gradebook does not hold, or holds with other settings."""
        if not self.path(task).exists():
            return False
        digest = self._digest(task, settings)
        return not self._marker(task).exists() or self._marker(task).read_text() != digest

    def _marker(self, task: Task) -> Path:
        return self.path(task).with_suffix(".written")

    def _digest(self, task: Task, settings: str) -> str:
        return hashlib.sha256(self.path(task).read_bytes() + settings.encode()).hexdigest()

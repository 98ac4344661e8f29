"""Stored results, one JSON file each: written atomically and durably, by any number of processes."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from course_utils.grading.course.result import GRADER_FAULT, Result, Task, Versions


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
        try:
            result: Result = json.loads(self.path(task).read_bytes())
        except (OSError, ValueError):
            return None
        return result

    def write(self, result: Result) -> None:
        """Store a result in place of an older one."""
        path = self.path(Task(result["lesson"], result["student"]))
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=".", suffix=".part", delete=False
        ) as file:
            json.dump(result, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).replace(path)

    def remove(self, task: Task) -> None:
        """Remove a result, if there is one."""
        self.path(task).unlink(missing_ok=True)

    def up_to_date(self, task: Task, versions: Versions) -> Result | None:
        """Return the stored result if it holds for these versions; a fault of the grader never does."""
        result = self.read(task)
        if (
            result is None
            or result["status"] == GRADER_FAULT
            or not Result.__required_keys__ <= result.keys()
        ):
            return None
        return result if result["provenance"].items() >= versions.items() else None

    def mark_written(self, task: Task) -> None:
        """Record that the gradebook holds the stored result."""
        self._marker(task).write_text(self._digest(task))

    def is_unwritten(self, task: Task) -> bool:
        """Say whether there is a result that the gradebook does not hold."""
        if not self.path(task).exists():
            return False
        return not self._marker(task).exists() or self._marker(task).read_text() != self._digest(task)

    def _marker(self, task: Task) -> Path:
        return self.path(task).with_suffix(".written")

    def _digest(self, task: Task) -> str:
        return hashlib.sha256(self.path(task).read_bytes()).hexdigest()

"""One file for each result: written whole or not at all, by as many processes as one likes."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

KEYS = ("submission", "lesson", "checks", "environment")


def path_of(folder: Path, lesson: str, student: str) -> Path:
    """Where a result is kept."""
    return folder / lesson / f"{student}.json"


def write(folder: Path, result: dict[str, Any]) -> Path:
    """Stores a result; a reader sees the old one or the new one, never half of one."""
    path = path_of(folder, result["lesson"], result["student"])
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", suffix=".part", delete=False) as file:
        json.dump(result, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    Path(file.name).replace(path)
    return path


def read(folder: Path, lesson: str, student: str) -> dict[str, Any] | None:
    """Reads a result; None where there is none, or none that can be read."""
    try:
        return json.loads(path_of(folder, lesson, student).read_text())
    except (OSError, ValueError):
        return None


def is_current(result: dict[str, Any] | None, provenance: dict[str, str]) -> bool:
    """Says whether a result still holds; a fault of the grader never does."""
    if result is None or result["status"] == "grader fault":
        return False
    return all(result["provenance"].get(key) == provenance[key] for key in KEYS)

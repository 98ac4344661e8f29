"""The version of the course that a notebook was released from, which its metadata state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from course_utils.grading.submission import OTHER_VERSION, Finding

KEY = "course_version"
_A_VERSION = re.compile(r"\d+(\.\d+){0,3}")


def state_version(metadata: dict[str, Any]) -> None:
    """Write the present version of the course into a notebook's metadata."""
    metadata[KEY] = version("feeding-the-gpu")


def compare_version(metadata: Mapping[str, Any]) -> list[Finding]:
    """Return a finding where a notebook states another version than the present one."""
    stated = metadata.get(KEY)
    if (
        not isinstance(stated, str)
        or not _A_VERSION.fullmatch(stated)
        or stated == version("feeding-the-gpu")
    ):
        return []
    return [Finding(OTHER_VERSION, f"The notebook is from version {stated[:20]} of the course.")]

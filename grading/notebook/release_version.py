"""The versions that a notebook's metadata state: of the course that released it, of the Python it ran in."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from grading.submission.findings import OTHER_VERSION, Finding

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


def compare_python(metadata: Mapping[str, Any]) -> list[Finding]:
    """Return a finding where a notebook ran in a newer Python than this one, which lacks its syntax."""
    language = metadata.get("language_info")
    stated = language.get("version") if isinstance(language, dict) else None
    found = re.match(r"3\.(\d{1,3})\b", stated) if isinstance(stated, str) else None
    if found is None or int(found[1]) <= sys.version_info.minor:
        return []
    here = f"3.{sys.version_info.minor}"
    what = f"The notebook ran in Python {found[0]}; grading runs in {here}, which lacks the newer syntax."
    return [Finding(OTHER_VERSION, what)]

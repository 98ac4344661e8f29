"""All formats as parameters of tests, those that are not installed skipped with the reason."""

import pytest

from course_utils.formats import find_formats
from course_utils.formats.registry import FORMATS

FOUND = find_formats()
REASONS = {name: f"{name} is not installed: {what}" for name, what in FOUND.missing.items()}
KINDS = [
    pytest.param(
        FOUND.installed.get(name), marks=[pytest.mark.skip(REASONS[name])] if name in REASONS else [], id=name
    )
    for _, name in FORMATS
]

"""Leave names of files and of the user's code out of a report."""

import re
from typing import Any

LINE = re.compile(r"\S+\.pyw?:\d+( in \S+)?( → \S+)?")
PATH = re.compile(r"(?<![\w.])/[\w./-]+")


def without_names(value: Any) -> Any:
    """Replace lines of code and paths in all texts of a report, and names of datasets."""
    if isinstance(value, dict):
        return {
            key: "" if key == "dataset" else without_names(item)
            for key, item in value.items()
            if key != "remedy"
        } | ({"remedy": value["remedy"]} if "remedy" in value else {})
    if isinstance(value, list):
        return [without_names(item) for item in value]
    return PATH.sub("(a path)", LINE.sub("(a line)", value)) if isinstance(value, str) else value

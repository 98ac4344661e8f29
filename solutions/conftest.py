"""What nbval compares of the lessons depends on the machine."""

import json

import pytest
from nbval.plugin import IPyNbCell

from course_utils.paths import DataNotFoundError
from course_utils.storage import strace
from course_utils.tokens import token_set

NEEDS_STRACE = "needs-strace"  # a tag of cells that say why, where nothing can be traced
NEEDS_TOKEN_SET = "needs-token-set"  # a tag of cells that count in the set of tokens
# In the set of the saved outputs: other versions of Python and of the libraries have other docstrings.
TOKENS = 4_569_240


def has_other_tokens() -> bool:
    """Return whether the set of tokens is another one than that of the saved outputs."""
    try:
        return bool(json.loads((token_set() / "tokens.json").read_text())["count"] != TOKENS)
    except DataNotFoundError:
        return True


NEEDS = {NEEDS_STRACE: strace.why_not_traceable, NEEDS_TOKEN_SET: has_other_tokens}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Do not compare the saved output of cells that need what this machine lacks."""
    cells = [item for item in items if isinstance(item, IPyNbCell)]
    for tag, lacks in NEEDS.items():
        tagged = [cell for cell in cells if tag in cell.cell.metadata.get("tags", ())]
        if tagged and lacks():
            for cell in tagged:
                cell.options["check"] = False

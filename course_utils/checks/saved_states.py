"""States that two lessons let students save: what is kept of one is its JSON."""

from course_utils.checks.core import environment

NOT_JSON = ""


def state_text(state: object) -> str:
    """Return a state as JSON; `NOT_JSON` if it cannot be written."""
    try:
        return environment.json.dumps(state)
    except (TypeError, ValueError, RecursionError):
        return NOT_JSON

"""How far each exercise of a lesson is, derived from the outputs that its notebook was saved with.

There is no record of progress beside the notebooks: it would be a second truth, which a restored, copied or
updated notebook contradicts, and which every kernel that runs a lesson (a test's, a grader's) would write.
What the checks have printed is saved by JupyterLab anyway. The price is that a check counts once its notebook
is saved. Only the student sees this; grading runs the answers itself.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum

from course_utils.start_page.saved_notebook import Cell, SavedNotebook, text_of

PASSED_MARK = "✓ "  # how a check's verdict on a right answer begins
STUB = ("# YOUR CODE HERE", "raise NotImplementedError")  # what nbgrader writes in place of a solution
NOT_WRITTEN_YET = "[not_written_yet]"


class State(Enum):
    """The state of an exercise."""

    PASSED = "passed"
    FAILED = "not right yet"
    UNCHECKED = "run the check"  # the answer was written, or run again, after the check
    NOT_BEGUN = "not begun"
    MISSING = "missing from the notebook"


@dataclass(frozen=True)
class Exercise:
    """An exercise of a lesson.

    Attributes:
        name: The name of its check, such as `json_labels`.
        number: Its place in the lesson, from 1.
        state: How far it is.
    """

    name: str
    number: int
    state: State


def exercise_states(notebook: SavedNotebook, expected: Collection[str]) -> tuple[Exercise, ...]:
    """Return the exercises of a lesson, in the order of the notebook.

    Args:
        notebook: The lesson as it was saved.
        expected: Names of the lesson's checks. Those whose cells were deleted come last.
    """
    checks, answers = notebook.marked(solution=False), notebook.marked(solution=True)
    states = {name: _state(cell, answers.get(f"{name}_answer", Cell())) for name, cell in checks.items()}
    states |= {name: State.MISSING for name in sorted(expected) if name not in checks}
    return tuple(Exercise(name, number, state) for number, (name, state) in enumerate(states.items(), 1))


def _state(check: Cell, answer: Cell) -> State:
    unwritten = all(line in text_of(answer.source) for line in STUB)
    verdict = _verdict(check)
    if verdict in (None, State.NOT_BEGUN):
        return State.NOT_BEGUN if unwritten else State.UNCHECKED
    answer_ran_later = (answer.execution_count or 0) > (check.execution_count or 0)
    if verdict is State.PASSED and (unwritten or answer_ran_later):
        return State.UNCHECKED
    return verdict


def _verdict(check: Cell) -> State | None:
    """Return what the check said when it ran; None if it did not run, or was stopped by another error."""
    for output in check.outputs:
        if text_of(output.text).startswith(PASSED_MARK):
            return State.PASSED
        if output.ename == "CheckFailed":
            return State.NOT_BEGUN if NOT_WRITTEN_YET in "".join(output.traceback) else State.FAILED
    return None

"""Solutions below a cell that changes modules of Python, as honest cells do, keep all points."""

import nbformat
import pytest

from grading.course.lesson import Lesson
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.scoring.examination import examine
from tests.checks.habits import HABITS
from tests.lessons.lesson import LESSONS
from tests.whole import one_in


@pytest.mark.parametrize("lesson", one_in(4, LESSONS, lambda one: one.name))
def test_solution_is_right_after_all_habits(lesson):
    try:
        kind = backends.choose()
    except backends.NoSandboxError as refusal:
        pytest.skip(str(refusal))
    own = Lesson(lesson.solution.parent)
    notebook = nbformat.from_dict(own.source)
    cells = [nbformat.v4.new_code_cell(source, id=f"habit-{n}") for n, source in enumerate(HABITS.values())]
    notebook.cells[:0] = cells
    with Sandbox(kind) as first, Sandbox(kind) as second:
        examined = examine((first, second), own, notebook, own.files(), 1)
    assert {examined.replies[place].error for place in range(len(cells))} == {""}
    assert {
        name: one["message"] for name, one in examined.exercises.items() if one["status"] != "right"
    } == {}

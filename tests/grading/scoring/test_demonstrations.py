"""Answers may use what demonstration cells import and define, in the sandbox as in the notebook."""

import copy
from collections.abc import Iterator

import nbformat
import pytest
from nbgrader.utils import is_solution

from course_utils.validation.definitions import defined_names, extract_definitions
from grading.course.lesson import Lesson
from grading.notebook.cell_selection import cells_to_run
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.scoring.examination import sandbox_steps
from grading.scoring.judge import Judge
from tests.lessons.lesson import LESSONS

pytestmark = pytest.mark.proof
NEEDS_A_RUN = {"DecodedImages"}  # classes whose definition uses what the demonstration has computed


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        kind = backends.choose()
    except backends.NoSandboxError as refusal:
        pytest.skip(str(refusal))
    with Sandbox(kind) as sandbox:
        yield sandbox


@pytest.mark.parametrize("folder", [lesson.solution.parent for lesson in LESSONS], ids=lambda path: path.name)
def test_answer_can_use_all_that_demonstrations_above_it_define(sandbox, folder):
    lesson = Lesson(folder)
    notebook = nbformat.from_dict(copy.deepcopy(lesson.source))
    above, answers = set(), []
    for cell, runs in zip(notebook.cells, cells_to_run(notebook, lesson.source), strict=True):
        if cell.cell_type == "code" and not runs:
            above |= defined_names(extract_definitions(cell.source)) - NEEDS_A_RUN
        elif cell.cell_type == "code" and is_solution(cell):
            cell.source = f"_ = [{', '.join(sorted(above))}]\n{cell.source}"
            answers.append(cell.source)
    judge = Judge(lesson, seed=1)
    steps = sandbox_steps(lesson, notebook, judge)
    replies = sandbox.run(steps, lesson.files())
    errors = {replies[step.index].error for step in steps if step.source in answers}
    assert above
    assert errors == {""}
    assert {outcome["status"] for outcome in judge.outcomes(notebook, replies).values()} == {"right"}

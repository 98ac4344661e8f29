"""The step of `nbgrader autograde` that runs a submission, named in `nbgrader_config.py`."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from course_utils.grading.course import Course, course_of, result_store
from course_utils.grading.sandbox import GraderFaultError
from course_utils.grading.scoring import is_current, run_one
from course_utils.grading.submission import grade_id

NOT_JUDGED = "This cell has not been judged."


class ExecuteAnswers(NbGraderPreprocessor):
    """Has a submission run in a sandbox and judged outside, and writes the verdicts into its graded cells.

    A result that `make grade` has left for the same submission and the same checks is used as it is.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401
        """Gives `nb` the outputs of its grading."""
        names = resources["nbgrader"]
        result = result_of(course_of(self.config), names["student"], names["assignment"])
        write_outputs(nb, result)
        return nb, resources


def result_of(course: Course, student: str, lesson: str) -> dict[str, Any]:
    """Finds the current result of a submission, or makes it.

    Raises:
        GraderFaultError: The grader itself failed; there is no mark.
    """
    result = result_store.read(course.results, lesson, student)
    if not is_current(course, lesson, student):
        result = run_one(course, lesson, student)
        result_store.write(course.results, result)
    if result["status"] == "grader fault":
        raise GraderFaultError(
            f"The grader failed on {student}'s {lesson}; see {course.results}. No mark was given."
        )
    return result


def write_outputs(nb: NotebookNode, result: dict[str, Any]) -> None:
    """Writes verdicts and outputs into a notebook; a graded cell without a verdict has failed."""
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        exercise = result["exercises"].get(grade_id(cell))
        graded = cell.metadata.get("nbgrader", {}).get("grade") and not cell.metadata.nbgrader.get("solution")
        if exercise is not None:
            cell.outputs = [_verdict(exercise)]
        elif graded:
            cell.outputs = [_error("NotJudged", NOT_JUDGED)]
        else:
            cell.outputs = _student_outputs(result["cells"].get(cell.get("id"), {}))


def _verdict(exercise: dict[str, Any]) -> NotebookNode:
    if exercise["status"] == "right":
        # A stream, not a result: nbgrader would read a number in a result as partial credit.
        return new_output("stream", name="stdout", text=f"✓ {exercise['message']}\n")
    return _error("CheckFailed", exercise["message"], f"✗ {exercise['message']}   [{exercise['mistake']}]")


def _error(name: str, message: str, shown: str = "") -> NotebookNode:
    return new_output("error", ename=name, evalue=message, traceback=[shown or f"✗ {message}"])


def _student_outputs(cell: dict[str, Any]) -> list[NotebookNode]:
    outputs = [new_output("stream", name="stdout", text=cell["text"])] if cell.get("text") else []
    for picture in cell.get("pictures", []):
        outputs.append(new_output("display_data", {"image/png": picture}))
    if cell.get("error") and not cell.get("text"):
        outputs.append(new_output("stream", name="stdout", text=f"{cell['error']}\n"))
    return outputs

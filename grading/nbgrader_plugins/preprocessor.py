"""The preprocessor with which `nbgrader autograde` runs a submission, named in `nbgrader_config.py`."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from course_utils.checks.core import wrap
from grading.course.config import course_of
from grading.course.result import CellOutput, Exercise, Result, Task
from grading.notebook.cell_selection import grade_id
from grading.scoring.local import up_to_date_result

NOT_JUDGED = "This cell has not been judged."


class ExecuteAnswers(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Writes the verdicts of a submission into its graded cells.

    Without an up-to-date result the submission runs in a sandbox and is judged outside.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Give `nb` the outputs of its grading."""
        names = resources["nbgrader"]
        task = Task(names["assignment"], names["student"])
        write_outputs(nb, up_to_date_result(course_of(self.config), task))
        return nb, resources


def write_outputs(nb: NotebookNode, result: Result) -> None:
    """Write verdicts and outputs into a notebook; a graded cell without a verdict has failed."""
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
            output = result["cells"].get(cell.get("id"))
            cell.outputs = [] if output is None else _student_outputs(output)


def _verdict(exercise: Exercise) -> NotebookNode:
    if exercise["status"] == "right":
        # A stream, not a result: nbgrader would read a number in a result as partial credit.
        return _text(wrap(f"✓ {exercise['message']}") + "\n")
    shown = wrap(f"✗ {exercise['message']}   [{exercise['mistake']}]")
    return _error("CheckFailed", exercise["message"], shown)


def _text(text: str) -> NotebookNode:
    output: NotebookNode = new_output("stream", name="stdout", text=text)
    return output


def _error(name: str, message: str, shown: str = "") -> NotebookNode:
    traceback = [shown or f"✗ {message}"]
    output: NotebookNode = new_output("error", ename=name, evalue=message, traceback=traceback)
    return output


def _student_outputs(cell: CellOutput) -> list[NotebookNode]:
    outputs = [_text(cell["text"])] if cell["text"] else []
    outputs += [new_output("display_data", {"image/png": picture}) for picture in cell["pictures"]]
    if cell["error"] and not cell["text"]:
        outputs.append(_text(f"{cell['error']}\n"))
    return outputs

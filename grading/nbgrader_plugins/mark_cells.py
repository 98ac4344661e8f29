"""The preprocessor of a release that marks demonstrations and states the version."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from course_utils.validation.demonstrations import mark_demonstration
from grading.notebook.cell_selection import is_setup
from grading.notebook.release_version import state_version


class MarkCells(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Marks what Validate need not run, and which version of the course a notebook is from."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Mark the cells of `nb`."""
        state_version(nb.metadata)
        for cell in nb.cells:
            if cell.cell_type == "code" and not (is_setup(cell) or is_grade(cell) or is_solution(cell)):
                mark_demonstration(cell)
        return nb, resources

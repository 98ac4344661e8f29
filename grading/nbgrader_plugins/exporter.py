"""How nbgrader reads a submission: restored to the released form, so that no damaged file stops a class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter

from grading.course.config import course_of
from grading.course.result import Task
from grading.scoring.local import up_to_date_result


class SubmissionExporter(NotebookExporter):
    """nbconvert's notebook exporter, which takes a submission from its result, as it was graded."""

    def from_filename(self, filename: str, resources: dict[str, Any] | None = None, **kwargs: Any) -> Any:  # noqa: ANN401
        """Read and convert one notebook."""
        names = (resources or {}).get("nbgrader")
        if resources is None or names is None:
            return super().from_filename(filename, resources, **kwargs)
        course, task = course_of(self.config), Task(names["assignment"], names["student"])
        if Path(filename).resolve().parent != course.submission_folder(task).resolve():
            return super().from_filename(filename, resources, **kwargs)
        notebook = nbformat.from_dict(up_to_date_result(course, task)["notebook"])
        resources["metadata"] = {"name": Path(filename).stem, "path": str(Path(filename).parent)}
        return self.from_notebook_node(notebook, resources, **kwargs)  # type: ignore[no-untyped-call]  # nbconvert's

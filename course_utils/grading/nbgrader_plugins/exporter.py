"""How nbgrader reads a submission: repaired first, so that no broken file stops a class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter

from course_utils.grading.course import course_of
from course_utils.grading.submission import repair


class SubmissionExporter(NotebookExporter):
    """nbconvert's notebook exporter; what comes out of the submitted folder is repaired."""

    def from_filename(self, filename: str, resources: dict[str, Any] | None = None, **kwargs: Any) -> Any:  # noqa: ANN401
        """Reads, repairs and converts one notebook."""
        names = (resources or {}).get("nbgrader")
        if names is None:
            return super().from_filename(filename, resources, **kwargs)
        course = course_of(self.config)
        submission = course.submission(names["student"], names["assignment"])
        if Path(filename).resolve().parent != submission.folder.resolve():
            return super().from_filename(filename, resources, **kwargs)
        notebook = repair(submission.notebook(), course.lesson(names["assignment"]).released).notebook
        resources["metadata"] = {"name": Path(filename).stem, "path": str(Path(filename).parent)}
        return self.from_notebook_node(nbformat.from_dict(notebook), resources, **kwargs)

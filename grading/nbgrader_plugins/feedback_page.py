"""The exporter of feedback pages: pages that load and run nothing but what displays formulas."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from traitlets.config import Config

from grading.course.config import course_of
from grading.course.result import Task
from grading.nbgrader_plugins.feedback_summary import summarise
from grading.nbgrader_plugins.highlighting import Highlighter

TEMPLATES = Path(__file__).with_name("feedback_template")
MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/mathjax/"
# MathJax evaluates its configuration. Scripts in the page, and in attributes and links, do not run.
POLICY = (
    f"default-src 'none'; script-src {MATHJAX} 'unsafe-eval'; style-src 'unsafe-inline'; font-src {MATHJAX}; "
    f"img-src data:; base-uri 'none'; form-action 'none'"
)
_META = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'


class FeedbackExporter(HTMLExporter):
    """nbconvert's HTML exporter, which embeds the lesson's pictures and adds a content security policy.

    The exercises, with verdicts and points, stand above the notebook.
    """

    def __init__(self, config: Config | None = None, **options: Any) -> None:  # noqa: ANN401 - nbconvert's own
        # nbgrader names its own template in the section of HTMLExporter; this one is more specific.
        config = copy.deepcopy(config or Config())
        config.FeedbackExporter.template_name = "course_feedback"
        config.FeedbackExporter.extra_template_basedirs = [str(TEMPLATES)]
        config.FeedbackExporter.embed_images = True
        super().__init__(config=config, **options)  # type: ignore[no-untyped-call]  # nbconvert's

    def from_notebook_node(  # type: ignore[override]  # as HTMLExporter's
        self,
        nb: NotebookNode,
        resources: dict[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - nbconvert's own
    ) -> tuple[str, dict[str, Any]]:
        """Convert a notebook."""
        code = [cell.source for cell in nb.cells if cell.cell_type == "code"]
        self.filters = {**self.filters, "highlight_code": Highlighter(code)}
        page, resources = super().from_notebook_node(nb, resources, **options)
        head = "<head>"
        if head not in page:
            raise ValueError("the template of feedback pages has no <head>, so they get no security policy")
        return page.replace(head, head + _META, 1), resources

    def _preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        # Among the preprocessors is nbgrader's, which brings points and comments from the gradebook.
        nb, resources = super()._preprocess(nb, resources)  # type: ignore[no-untyped-call]  # nbconvert's
        grades = resources["nbgrader"]
        task = Task(grades["assignment"], grades["student"])
        resources["feedback"] = summarise(course_of(self.config), task, nb, grades)
        return nb, resources

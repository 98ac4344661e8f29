"""The exporter of feedback pages: pages that load and run nothing but what displays formulas."""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode

MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/mathjax/"
# MathJax evaluates its configuration. Scripts in the page, and in attributes and links, do not run.
POLICY = (
    f"default-src 'none'; script-src {MATHJAX} 'unsafe-eval'; style-src 'unsafe-inline'; font-src {MATHJAX}; "
    f"img-src data:; base-uri 'none'; form-action 'none'"
)
_META = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'


class FeedbackExporter(HTMLExporter):
    """nbconvert's HTML exporter, which embeds the lesson's pictures and adds a content security policy."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - nbconvert's own
        super().__init__(**options)  # type: ignore[no-untyped-call]  # nbconvert's
        self.embed_images = True

    def from_notebook_node(  # type: ignore[override]  # as HTMLExporter's
        self,
        nb: NotebookNode,
        resources: dict[str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - nbconvert's own
    ) -> tuple[str, dict[str, Any]]:
        """Convert a notebook."""
        page, resources = super().from_notebook_node(nb, resources, **options)
        head = "<head>"
        if head not in page:
            raise ValueError("the template of feedback pages has no <head>, so they get no security policy")
        return page.replace(head, head + _META, 1), resources

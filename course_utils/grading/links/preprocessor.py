"""The preprocessor of a release that links the names in its texts."""

from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course_utils.grading.links.glossary import PAGE, Glossary
from course_utils.grading.links.linker import Entry, Linker
from course_utils.grading.links.package_names import PackageNames


class LinkText(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Links terms, programs and names of the package where a lesson uses them first."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Link the texts of `nb`; the glossary stands beside the folder of the lesson."""
        link_texts(nb, Glossary.read(Path(resources["metadata"]["path"]).parent / PAGE))
        return nb, resources


def link_texts(notebook: NotebookNode, glossary: Glossary) -> None:
    """Link each name once in the texts of a lesson, where it is used first.

    Args:
        notebook: The lesson, changed in place.
        glossary: The terms and programs to link.
    """
    names = PackageNames("\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code"))

    def code(span: str) -> Entry | None:
        return names.entry(span) or glossary.code(span)

    linker = Linker(glossary.words, glossary.names, code)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = linker.link(cell.source)

"""What must hold of a released lesson that has been run as a student finds it."""

from pathlib import Path

from nbformat import NotebookNode

from tests.lessons.lesson import code_cells, graded


def check(notebook: NotebookNode) -> None:
    """It ran to its end; every graded cell failed with a message, and nothing else failed or warned."""
    failed = [cell.id for cell in code_cells(notebook) if outputs(cell, "error")]
    assert failed == [cell.id for cell in graded(notebook).values()]
    for cell in graded(notebook).values():
        assert outputs(cell, "error")[0].ename == "CheckFailed"
    assert all(cell.execution_count for cell in code_cells(notebook) if cell.source.strip())
    assert not warnings(notebook)


def warnings(notebook: NotebookNode) -> list[str]:
    streams = [output for cell in code_cells(notebook) for output in outputs(cell, "stream")]
    return [output.text for output in streams if output.name == "stderr"]


def outputs(cell: NotebookNode, kind: str) -> list[NotebookNode]:
    return [output for output in cell.outputs if output.output_type == kind]


def files(folder: Path) -> set[Path]:
    """The files of a lesson: running it leaves none beside the notebook."""
    found = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in found if ".ipynb_checkpoints" not in path.parts}

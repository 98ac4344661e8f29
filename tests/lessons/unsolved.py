"""Check a released lesson that was run without any exercise solved."""

from pathlib import Path

from nbformat import NotebookNode

from tests.lessons.lesson import code_cells, fails_on_purpose, graded


def check(notebook: NotebookNode) -> None:
    """Assert that every cell ran, that exactly the graded cells failed, and that nothing warned."""
    failed = [
        cell.id for cell in code_cells(notebook) if outputs(cell, "error") and not fails_on_purpose(cell)
    ]
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
    """Return the files of a lesson, to compare before and after a run."""
    found = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in found if ".ipynb_checkpoints" not in path.parts}

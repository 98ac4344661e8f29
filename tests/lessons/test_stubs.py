"""The released lesson, run as a student finds it."""

import os
import shutil
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from tests.lessons.lesson import Lesson, code_cells, graded, read
from tests.lessons.start_method import by_default


@pytest.fixture(scope="module")
def folder(lesson: Lesson, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shutil.copytree(lesson.release.parent, tmp_path_factory.mktemp("course") / lesson.name)


@pytest.fixture(scope="module")
def unsolved(
    lesson: Lesson, folder: Path, lesson_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> NotebookNode:
    notebook = read(folder / lesson.release.name)
    env = os.environ | {"COURSE_DATA": str(lesson_data)}
    if asks_for_a_start_method(notebook):
        # What Python 3.14 does by default. Elsewhere it would only make the workers start slowly.
        env |= by_default("forkserver", tmp_path_factory.mktemp("python"))
    client = NotebookClient(notebook, allow_errors=True, timeout=600)
    return client.execute(cwd=str(folder), env=env)


def asks_for_a_start_method(notebook: NotebookNode) -> bool:
    return any("set_start_method" in cell.source for cell in code_cells(notebook))


def outputs(cell: NotebookNode, kind: str) -> list[NotebookNode]:
    return [output for output in cell.outputs if output.output_type == kind]


def test_every_graded_cell_fails_with_a_message_and_nothing_else_fails(unsolved: NotebookNode):
    failed = [cell.id for cell in code_cells(unsolved) if outputs(cell, "error")]
    assert failed == [cell.id for cell in graded(unsolved).values()]
    for cell in graded(unsolved).values():
        assert outputs(cell, "error")[0].ename == "CheckFailed"


def test_it_runs_to_its_end(unsolved: NotebookNode):
    last = [cell for cell in code_cells(unsolved) if cell.source.strip()][-1]
    assert last.execution_count


def test_it_prints_no_warnings(unsolved: NotebookNode):
    for cell in code_cells(unsolved):
        assert not [output for output in outputs(cell, "stream") if output.name == "stderr"], cell.source


def test_it_leaves_no_file_beside_the_notebook(lesson: Lesson, folder: Path, unsolved: NotebookNode):
    released = {path.relative_to(lesson.release.parent) for path in lesson.release.parent.rglob("*")}
    assert {path.relative_to(folder) for path in folder.rglob("*")} == released

"""Lesson 02 runs to its end however this Python starts processes by default.

Its release runs with forkserver in test_stubs.py, and nbval runs the solution with the default there is.
"""

import os
import shutil
from pathlib import Path

import pytest
from nbclient import NotebookClient

from tests.lessons.lesson import LESSONS, Lesson, code_cells, read
from tests.lessons.start_method import by_default

HANDLES = [lesson for lesson in LESSONS if lesson.module_name == "multi_worker_handles"]


@pytest.mark.parametrize("lesson", HANDLES, ids=[lesson.name for lesson in HANDLES])
def test_the_solution_runs_where_spawn_is_the_default(lesson: Lesson, lesson_data: Path, tmp_path: Path):
    folder = shutil.copytree(lesson.solution.parent, tmp_path / lesson.name)
    env = os.environ | {"COURSE_DATA": str(lesson_data)} | by_default("spawn", tmp_path)
    notebook = NotebookClient(read(lesson.solution), timeout=600).execute(cwd=str(folder), env=env)
    cells = code_cells(notebook)
    [fresh] = [cell for cell in cells if cell.id == "default-method"]
    assert "here: spawn" in fresh.outputs[0].text
    assert not [cell.source for cell in cells for output in cell.outputs if output.get("name") == "stderr"]

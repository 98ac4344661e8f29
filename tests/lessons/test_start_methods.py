"""Lesson 02 runs to its end however this Python starts processes by default.

Every Python that such a run starts begins its processes in one way, as another version would by default. The
browser runs the release, and nbval the solution, with the default that there is.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from tests.lessons import unsolved
from tests.lessons.lesson import LESSONS, Lesson, read

HANDLES = [lesson for lesson in LESSONS if lesson.module_name == "multi_worker_handles"]
pytestmark = pytest.mark.proof
of_handles = pytest.mark.parametrize("lesson", HANDLES, ids=[lesson.name for lesson in HANDLES])
ASK = "import multiprocessing; print(multiprocessing.get_start_method())"
WHATEVER = """
import multiprocessing

multiprocessing.set_start_method({method!r})
"""


def run(path: Path, method: str, data: Path, scratch: Path, **options: object) -> NotebookNode:
    """A notebook, run in a copy of its folder where a method is the default; its cells say so themselves."""
    (scratch / "sitecustomize.py").write_text(WHATEVER.format(method=method))
    folder = shutil.copytree(path.parent, scratch / path.parent.name)
    env = os.environ | {"COURSE_DATA": str(data), "PYTHONPATH": str(scratch)}
    notebook = NotebookClient(read(path), timeout=600, **options).execute(cwd=str(folder), env=env)
    assert unsolved.files(folder) == unsolved.files(path.parent)
    fresh = subprocess.run([sys.executable, "-c", ASK], env=env, capture_output=True, text=True, check=True)
    assert fresh.stdout.strip() == method
    return notebook


@pytest.mark.whole
@of_handles
def test_the_solution_runs_where_spawn_is_the_default(lesson: Lesson, lesson_data: Path, tmp_path: Path):
    notebook = run(lesson.solution, "spawn", lesson_data, tmp_path)
    assert not unsolved.warnings(notebook)


@of_handles
def test_the_release_runs_where_forkserver_is_the_default(lesson: Lesson, lesson_data: Path, tmp_path: Path):
    notebook = run(lesson.release, "forkserver", lesson_data, tmp_path, allow_errors=True)
    unsolved.check(notebook)

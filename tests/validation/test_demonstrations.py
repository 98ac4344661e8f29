"""Validate runs of a demonstration what grading runs: nbgrader's validator with the course's settings."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.validator import Validator
from traitlets.config.loader import PyFileConfigLoader

from course_utils.validation.demonstrations import mark_demonstration
from tests.lessons.lesson import COURSE, LESSONS

GRADED = {
    "schema_version": 3,
    "cell_type": "code",
    "grade": True,
    "locked": True,
    "solution": False,
    "task": False,
}


def demonstration(source: str):
    cell = new_code_cell(source)
    mark_demonstration(cell)
    return cell


def graded(source: str):
    return new_code_cell(source, metadata={"nbgrader": {**GRADED, "grade_id": "check", "points": 1}})


def validate(folder: Path, *cells, **settings) -> dict:
    path = folder / "lesson.ipynb"
    nbformat.write(
        new_notebook(
            cells=list(cells), metadata={"kernelspec": {"name": "python3", "display_name": "Python"}}
        ),
        path,
    )
    config = PyFileConfigLoader("nbgrader_config.py", str(COURSE)).load_config()
    config.Execute.update(settings)
    return Validator(config=config, ignore_checksums=True).validate(str(path))


def test_verdict_needs_definitions_but_no_demonstration(tmp_path):
    ran = tmp_path / "ran"
    heavy = demonstration(
        f"from pathlib import Path\ndef half(x):\n    return x / 2\nPath({str(ran)!r}).touch()"
    )
    changed = demonstration("own = 1")
    changed.source = "own = half(4)"
    assert validate(tmp_path, heavy, changed, graded("assert own == 2")) == {}
    assert not ran.exists()


def test_endless_loop_ends_and_is_named(tmp_path):
    found = validate(tmp_path, graded("while True: pass"), timeout=1)
    assert "CellTimeoutError" in json.dumps(found["failed"])


@pytest.mark.parametrize("lesson", LESSONS, ids=str)
def test_release_marks_demonstrations_only(lesson):
    notebook = nbformat.read(lesson.release, as_version=4)
    for cell in notebook.cells:
        graders = cell.metadata.get("nbgrader", {})
        plain = cell.cell_type == "code" and not graders and "setup" not in cell.metadata.get("tags", [])
        assert ("demonstration" in cell.metadata) == plain
    assert notebook.metadata.course_version

"""Tampering with the metadata of a notebook changes neither its checks, nor points, nor the answer."""

import copy
import json

import pytest

from grading.notebook.restore import restore_notebook
from grading.scoring.examination import sandbox_steps
from grading.scoring.judge import Judge
from tests.grading.toy_course import ANSWERS, LESSON, make_course, submit

WRONG = "def total_of(numbers):\n    return 0"
CHECK = "arithmetic.total(sum)"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def submitted(course):
    folder = submit(course, "eve", total=WRONG)
    return json.loads((folder / f"{LESSON}.ipynb").read_text())


def cell_of(data, cell_id):
    return next(cell for cell in data["cells"] if cell["id"] == cell_id)


def marks(**more):
    plain = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    return {"nbgrader": {**plain, **more}}


def cell(source, kind="code", cell_id="mine", **metadata):
    return {"cell_type": kind, "id": cell_id, "metadata": metadata, "source": source}


def _marked(cell_id, **changed):
    return lambda data: cell_of(data, cell_id)["metadata"]["nbgrader"].update(changed)


def _added(*cells, place=0):
    def change(data):
        data["cells"][place:place] = copy.deepcopy(cells)

    return change


def _metadata(**changed):
    return lambda data: data["metadata"].update(changed)


def _written(cell_id, **changed):
    return lambda data: cell_of(data, cell_id).update(changed)


def _all_cells(**metadata):
    def change(data):
        for one in data["cells"]:
            one["metadata"].update(metadata)

    return change


CHANGES = {
    "own cell tagged setup": _added(cell("1", tags=["setup"])),
    "own cell with parameters": _added(cell("total_of = sum", tags=["parameters", "injected-parameters"])),
    "own check": _added(cell(CHECK, **marks(grade=True, grade_id="bonus", points=50, locked=True))),
    "own check of the same name": _added(cell(CHECK, **marks(grade=True, grade_id="total", locked=True))),
    "own check of the same id": _added(cell(CHECK, cell_id="total")),
    "own check as a heading": _added(cell(CHECK, "heading", **marks(grade=True, grade_id="total"))),
    "own task": _added(cell("mine", "markdown", **marks(task=True, grade=True, grade_id="essay", points=9))),
    "id of the check on the answer": _written("total-answer", id="total"),
    "check of an invisible other kind": _written("total", cell_type="code\u200b"),
    "name of a check with a blank": _marked("total", grade_id="Total "),
    "name of a check in other letters": _marked("total", grade_id="t\u043etal"),
    "name of a check in a list": _marked("total", grade_id=["total"]),
    "points infinite": _marked("total", points=float("inf")),
    "points not a number": _marked("total", points=float("nan")),
    "points true": _marked("total", points=True),
    "answer locked and no solution": _marked("total-answer", locked=True, solution=False),
    "answer graded by hand": _marked("total-answer", grade=True, points=2, checksum="0"),
    "attachments of code": _written("total-answer", attachments={"a.png": {"text/html": "<script>"}}),
    "outputs with a verdict": _written(
        "total", outputs=[{"output_type": "stream", "text": ["2 of 2 points"]}]
    ),
    "setup replaced": _written("setup", source="class arithmetic:\n    total = print"),
    "demonstration replaced": _written(
        "demo", source="from toy_checks import arithmetic as a\na.total = print"
    ),
    "all cells hidden, skipped and setup": _all_cells(tags=["remove-cell", "skip-execution", "setup"]),
    "all cells trusted": _all_cells(trusted=True, deletable=True, editable=True),
    "marks of the notebook": _metadata(nbgrader={"points": 100}),
    "command of the kernel": _metadata(kernelspec={"language": "python", "argv": ["sh", "-c", "exit"]}),
    "another language": _metadata(language_info={"name": "javascript", "file_extension": "/../x"}),
    "state of widgets": _metadata(widgets={"application/vnd.jupyter.widget-state+json": {"state": {}}}),
    "paired text": _metadata(jupytext={"formats": "ipynb,py:percent"}),
    "version that is no text": _metadata(course_version={"a": [1] * 1000}),
    "worksheets beside cells": lambda data: data.update(worksheets=[{"cells": [cell("total_of = sum")]}]),
}


def expect_as_released(lesson, raw):
    restored = restore_notebook(raw.encode(), lesson.released)
    graded = [one for one in restored.notebook.cells if one.metadata.get("nbgrader", {}).get("grade")]
    assert [(one.metadata.nbgrader.grade_id, one.metadata.nbgrader.points) for one in graded] == [
        (name, 2) for name in ANSWERS
    ]
    steps = sandbox_steps(lesson, restored.notebook, Judge(lesson, 1))
    assert {step.check: step.source for step in steps if step.check} == {
        name: f"{answer}, " for name, answer in ANSWERS.items()
    }
    before = steps[: next(place for place, step in enumerate(steps) if step.check)]
    assert [step.source for step in before if "total_of" in step.source][-1] == WRONG
    assert restored.notebook.metadata == lesson.released.metadata


@pytest.mark.parametrize("name", CHANGES)
def test_tampering_changes_nothing_that_counts(course, submitted, name):
    changed = copy.deepcopy(submitted)
    CHANGES[name](changed)
    expect_as_released(course.lesson(LESSON), json.dumps(changed))


def test_of_keys_that_occur_twice_none_counts_more(course, submitted):
    text = json.dumps(submitted)
    for old, new in {
        '"cells":': '"cells": [], "cells":',
        '"points": 2': '"points": 50, "points": 99',
    }.items():
        assert old in text
        text = text.replace(old, new)
    expect_as_released(course.lesson(LESSON), text)

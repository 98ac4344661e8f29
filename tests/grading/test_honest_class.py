"""Everything honest that happens to notebooks and folders, graded as a class by `make grade`."""

import copy
import json
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grading import cli
from grading.course.result import Task
from tests.grading.notebook.test_honest_work import CHANGES, ENCODINGS, in_format_3
from tests.grading.toy_course import LESSON, make_course, submit

pytestmark = pytest.mark.proof
FOLDERS = {}


def folder(function):
    FOLDERS[function.__name__] = function
    return function


def notebook(path: Path) -> Path:
    return path / f"{LESSON}.ipynb"


@folder
def renamed_beside_an_empty_notebook(path: Path) -> None:
    notebook(path).rename(path / "my solution.ipynb")
    (path / "Untitled.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')


@folder
def renamed_beside_a_checkpoint(path: Path) -> None:
    (path / ".ipynb_checkpoints").mkdir()
    (path / ".ipynb_checkpoints" / f"{LESSON}-checkpoint.ipynb").write_bytes(notebook(path).read_bytes())
    notebook(path).rename(path / "mine.ipynb")


@folder
def cut_off_beside_a_copy(path: Path) -> None:
    (path / f"{LESSON}-Copy1.ipynb").write_bytes(notebook(path).read_bytes())
    notebook(path).write_bytes(notebook(path).read_bytes()[:500])


@folder
def in_a_folder_of_its_own(path: Path) -> None:
    (path / LESSON).mkdir()
    notebook(path).rename(path / LESSON / f"{LESSON}.ipynb")


@folder
def many_pictures(path: Path) -> None:
    for number in range(250):
        (path / f"0 picture {number}.png").write_bytes(bytes(1000))


@folder
def helper_that_begins_with_a_dot(path: Path) -> None:
    (path / ".helper.py").write_text("def total_of(numbers):\n    return sum(numbers)")
    answer = "%run .helper.py"
    data = json.loads(notebook(path).read_text())
    for cell in data["cells"]:
        if cell["id"] == "total-answer":
            cell["source"] = answer
    notebook(path).write_text(json.dumps(data))


@folder
def folder_in_the_place_of_a_file(path: Path) -> None:
    (path / "lesson_file.txt").unlink()
    (path / "lesson_file.txt").mkdir()
    (path / "lesson_file.txt" / "mine.txt").write_text("mine")


@folder
def names_with_spaces_and_accents(path: Path) -> None:
    (path / "mes données (1)").mkdir()
    (path / "mes données (1)" / "été.txt").write_text("x")


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """The points of a class in which all answers are right."""
    course = make_course(tmp_path_factory.mktemp("course"))
    for name, change in FOLDERS.items():
        change(submit(course, name))
    solved = json.loads(notebook(submit(course, "honest")).read_text())
    for name, change in CHANGES.items():
        data = copy.deepcopy(solved)
        change(data)
        notebook(submit(course, name)).write_text(json.dumps(data))
    for name, encode in ENCODINGS.items():
        raw = encode(json.dumps(solved, ensure_ascii=False))
        notebook(submit(course, name.replace(",", ""))).write_bytes(raw)
    notebook(submit(course, "format 3")).write_text(json.dumps(in_format_3(solved)))
    assert cli.main(["grade", "--course", str(course.root), "--jobs", "2"]) == 0
    assert cli.main(["feedback", "--course", str(course.root)]) == 0
    students = course.students(LESSON)
    statuses = {student: course.results.read(Task(LESSON, student))["status"] for student in students}
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as book:
        return {s: (book.find_submission(LESSON, s).score, statuses[s]) for s in students}


def test_all_honest_work_has_all_points(scores):
    assert len(scores) == len(FOLDERS) + len(CHANGES) + len(ENCODINGS) + 2
    assert {student: found for student, found in scores.items() if found[0] != 6} == {}


def test_nothing_honest_is_called_tampered(scores):
    assert {status for _, status in scores.values()} == {"right", "damaged"}

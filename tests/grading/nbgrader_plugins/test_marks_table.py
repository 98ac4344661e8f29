"""The table of marks, plain and for each learning management system."""

import csv
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis.strategies import text
from nbgrader.api import Gradebook

from grading.nbgrader_plugins.marks_table import FORMS, FORMULA, export_marks, plain_text


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with marks of ann, who has a name like a formula; bob submitted nothing."""
    url = f"sqlite:///{tmp_path_factory.mktemp('book')}/gradebook.db"
    with Gradebook(url) as book, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # raised by nbgrader's use of its database library
        book.add_student("ann", first_name="Ann", last_name="=1+1", email="ann@example.org")
        book.add_student("bob")
        book.add_assignment("01_lesson")
        book.add_notebook("nb", "01_lesson")
        book.add_grade_cell("check", "nb", "01_lesson", max_score=4, cell_type="code")
        book.add_submission("01_lesson", "ann")
        book.find_grade("check", "nb", "01_lesson", "ann").auto_score = 3
        book.db.commit()
    return SimpleNamespace(
        directory=SimpleNamespace(db_url=url, course_id="default_course"),
        results=SimpleNamespace(read=lambda task: {"status": "wrong"}),
        lesson=lambda name: SimpleNamespace(points=4.0),
        grading=SimpleNamespace(weights={}),
    )


EXPECTED = {
    "plain": [
        ["student_id", "last_name", "first_name", "email", "01_lesson points", "01_lesson of",
         "01_lesson status", "points", "of", "weighted percent"],
        ["ann", "'=1+1", "Ann", "ann@example.org", "3.0", "4.0", "wrong", "3.0", "4.0", "75.0"],
        ["bob", "", "", "", "", "", "not submitted", "0", "0", "0.0"],
    ],
    "canvas": [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "01_lesson"],
        ["    Points Possible", "", "", "", "", "4.0"],
        ["'=1+1, Ann", "", "ann", "ann", "", "3.0"],
        ["bob", "", "bob", "bob", "", ""],
    ],
    "moodle": [
        ["First name", "Last name", "ID number", "Email address", "01_lesson"],
        ["Ann", "'=1+1", "ann", "ann@example.org", "3.0"],
        ["", "", "bob", "", ""],
    ],
    "brightspace": [
        ["OrgDefinedId", "Username", "01_lesson Points Grade", "End-of-Line Indicator"],
        ["ann", "ann", "3.0", "#"],
        ["bob", "bob", "", "#"],
    ],
}  # fmt: skip


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("form", FORMS)
def test_columns_are_those_that_the_system_imports(course, tmp_path, form):
    assert export_marks(course, ["01_lesson"], "", tmp_path / "marks.csv", form) == 2
    rows = read(tmp_path / "marks.csv")
    assert [rows[0], *sorted(rows[1:])] == [EXPECTED[form][0], *sorted(EXPECTED[form][1:])]


def test_a_student_of_ones_own_choice(course, tmp_path):
    assert export_marks(course, ["01_lesson"], "bob", tmp_path / "marks.csv", "brightspace") == 1
    assert read(tmp_path / "marks.csv")[1:] == [["bob", "bob", "", "#"]]


def test_a_table_that_cannot_be_made_leaves_the_old_one(course, tmp_path):
    (tmp_path / "marks.csv").write_text("old")
    broken = SimpleNamespace(**{**vars(course), "lesson": lambda name: 1 / 0})
    with pytest.raises(ZeroDivisionError):
        export_marks(broken, ["01_lesson"], "", tmp_path / "marks.csv")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("marks.csv", "old")]


@pytest.mark.parametrize("name", ["ann", "O'Hara", "Zoë", "ann-lee", "a=b", ""])
def test_name_is_kept(name):
    assert plain_text(name) == name


@given(text(alphabet="=+-@＝ \t\r\n\x00\u2028\xa0a1"))
def test_no_cell_is_a_formula(name):
    shown = plain_text(name)
    assert not shown.lstrip().startswith(FORMULA)
    assert shown.isprintable()

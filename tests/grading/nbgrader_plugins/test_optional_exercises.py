"""Optional exercises and weights of lessons, in nbgrader's own gradebook and in exports."""

import csv
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grading import cli
from grading.course.config import course_at
from tests.grading.toy_course import LESSON, make_course, submit

WRONG = "def total_of(numbers):\n    return 0"


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """A course where ann has solved all exercises, and bob all but the first."""
    course = make_course(tmp_path_factory.mktemp("course"))
    submit(course, "ann")
    submit(course, "bob", total=WRONG)
    return grade(course.root)


@pytest.fixture
def copy(graded, tmp_path) -> Path:
    return shutil.copytree(graded, tmp_path / "course")


def grade(root: Path, *options: str) -> Path:
    assert cli.main(["grade", "--course", str(root), "--jobs", "1", "--write", *options]) == 0
    return root


def configure(root: Path, **settings: object) -> None:
    lines = [f"c.Grading.{name} = {value!r}\n" for name, value in settings.items()]
    (root / "term_config.py").write_text("c = get_config()\n" + "".join(lines))


def scores(root: Path) -> dict[str, tuple[float, float]]:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
        return {one.student.id: (one.score, one.max_score) for one in book.assignment_submissions(LESSON)}


def test_an_exercise_adds_nothing_to_the_maximum_while_it_is_optional(copy, capsys):
    assert scores(copy) == {"ann": (6, 6), "bob": (4, 6)}
    configure(copy, optional={LESSON: ["total"]})
    grade(copy)
    assert scores(copy) == {"ann": (6, 4), "bob": (4, 4)}
    assert "5.0 of 4" in capsys.readouterr().out
    configure(copy)
    grade(copy)
    assert scores(copy) == {"ann": (6, 6), "bob": (4, 6)}


def test_points_that_the_teacher_gives_to_an_optional_exercise_count_alone(copy):
    configure(copy, optional={LESSON: ["total"]})
    with Gradebook(f"sqlite:///{copy}/gradebook.db") as book:
        book.find_grade("total", LESSON, LESSON, "bob").manual_score = 1.0
        book.db.commit()
    grade(copy)
    assert scores(copy)["bob"] == (5, 4)


def test_an_optional_exercise_that_does_not_exist_is_refused(copy):
    configure(copy, optional={LESSON: ["totals"]})
    with pytest.raises(ValueError, match="'totals', which is no exercise"):
        course_at(copy).lesson(LESSON)


def test_weights_are_exported_and_reported(copy, tmp_path, capsys):
    configure(copy, weights={LESSON: 3})
    grade(copy)
    assert f"83.3 %, weighted ({LESSON} 3)" in capsys.readouterr().out
    assert cli.main(["export", "--course", str(copy), "--to", str(tmp_path / "marks.csv")]) == 0
    with (tmp_path / "marks.csv").open() as file:
        found = {row["student_id"]: row["weighted percent"] for row in csv.DictReader(file)}
    assert found == {"ann": "100.0", "bob": "66.7"}

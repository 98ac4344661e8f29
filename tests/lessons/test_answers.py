"""Answers of the bank, graded by `nbgrader autograde` as a teacher does it.

Of each exercise a right one and a wrong one; with WHOLE=yes, all.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, SubmittedNotebook

from grading.answers.bank import Answer, answers
from tests.checks.bank_verdicts import skip_if_command_missing
from tests.grading.toy_course import nbgrader
from tests.lessons.lesson import COURSE, LESSONS, Lesson, graded, read
from tests.lessons.submissions import hand_in, rows
from tests.whole import IS_WHOLE

# `make test` judges the bank in process (tests/checks), and `make proofs` with several draws.
pytestmark = pytest.mark.proof


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each grading draws new inputs; its verdicts must not change. With `--seeds` there are two."""
    if "grading" in metafunc.fixturenames:
        metafunc.parametrize(
            "grading", ["first", "again"] if metafunc.config.getoption("--seeds") else ["first"]
        )


@dataclass(frozen=True)
class Marks:
    """Where nbgrader has graded the bank of one lesson."""

    lesson: Lesson
    course: Path

    def of(self, student: str) -> SubmittedNotebook:
        gradebook = Gradebook(f"sqlite:///{self.course}/gradebook.db")
        return gradebook.find_submission_notebook(self.lesson.name, self.lesson.name, student)

    def score(self, student: str, check: str) -> tuple[float, float]:
        [grade] = [grade for grade in self.of(student).grades if grade.name == check]
        return grade.score, grade.max_score

    def shown(self, student: str, check: str) -> str:
        """What the graded cell says in the notebook that the student gets back."""
        path = self.course / "autograded" / student / self.lesson.name / f"{self.lesson.name}.ipynb"
        return str(graded(read(path))[check].outputs)


@pytest.fixture(scope="module")
def marks_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Lesson, str], Marks]:
    """Return a function that grades the bank of a lesson on its first call, once for each name of a grading.

    Not a fixture with the lesson as its parameter: pytest would order the tests by student, and grade anew
    whenever the lesson changes.
    """
    return cache(lambda lesson, grading: grade_bank(lesson, tmp_path_factory.mktemp(f"course-{grading}")))


def grade_bank(lesson: Lesson, course: Path) -> Marks:
    shutil.copy(COURSE / "nbgrader_config.py", course)
    shutil.copytree(lesson.solution.parent, course / "solutions" / lesson.name)
    nbgrader(course, "generate_assignment", lesson.name)
    shutil.copy(lesson.solution, hand_in(course, lesson, "solution", {}))
    for number, row in enumerate(submissions(lesson)):
        hand_in(course, lesson, f"student{number}", {answer.check: answer.source for answer in row})
    nbgrader(course, "autograde", lesson.name)
    return Marks(lesson, course)


def submissions(lesson: Lesson) -> list[list[Answer]]:
    """Return rows of answers: a right one to each exercise, then a wrong one; with WHOLE=yes, all."""
    if IS_WHOLE:
        return rows(lesson)
    listed = sorted(answers(lesson.module_name), key=lambda answer: answer.mistake is not None)
    chosen = {(answer.check, answer.mistake is None): answer for answer in reversed(listed)}
    return rows(lesson, [answer for answer in listed if answer in chosen.values()])


def bank() -> list[object]:
    return [
        pytest.param(lesson, number, answer, id=f"{lesson.name}-{answer}")
        for lesson in LESSONS
        for number, row in enumerate(submissions(lesson))
        for answer in row
    ]


@pytest.mark.parametrize(("lesson", "number", "answer"), bank())
def test_right_gets_full_points_and_wrong_gets_none_and_its_name(
    marks_of: Callable[[Lesson, str], Marks], lesson: Lesson, number: int, answer: Answer, grading: str
):
    skip_if_command_missing(answer)
    marks, student = marks_of(lesson, grading), f"student{number}"
    points, most = marks.score(student, answer.check)
    shown = marks.shown(student, answer.check)
    if answer.mistake:
        assert points == 0, shown
        assert f"[{answer.mistake}]" in shown
    else:
        assert points == most, shown


@pytest.mark.parametrize("lesson", [pytest.param(lesson, id=lesson.name) for lesson in LESSONS])
def test_the_solution_gets_full_points(
    marks_of: Callable[[Lesson, str], Marks], lesson: Lesson, grading: str
):
    notebook = marks_of(lesson, grading).of("solution")
    assert notebook.score == notebook.max_score
    assert not notebook.needs_manual_grade

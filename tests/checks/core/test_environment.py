"""What a student's cells change in Python's modules changes no verdict on a right answer."""

import ast
import tempfile
from multiprocessing import current_process
from pathlib import Path

import pytest

from course_utils import checks
from course_utils.checks.core import environment
from course_utils.system import in_child
from grading.answers.bank import BANK, Answer, answers
from grading.answers.verdicts import verdict
from tests.checks.bank_verdicts import SLOW
from tests.checks.habits import HABITS

OWN = ("json", "pickle", "shutil", "tempfile", "zipfile")


def modules() -> list[Path]:
    return [path for path in Path(checks.__file__).parent.rglob("*.py") if path.name != "environment.py"]


def test_checks_take_these_modules_from_the_environment():
    found = {
        f"{path.name}: {alias.name}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (node.module if isinstance(node, ast.ImportFrom) else alias.name) in OWN
    }
    # These recognise a student's.
    assert found == {"handle_per_process.py: zipfile", "stored_zip.py: zipfile", "watch.py: json"}


@pytest.mark.parametrize("name", OWN)
def test_module_is_not_the_one_that_a_student_imports(name):
    assert getattr(environment, name) is not __import__(name)


def first_right() -> list[object]:
    """One right answer to each exercise."""
    bank = {answer.check: answer for lesson in BANK.iterdir() for answer in answers(lesson.name)[::-1]
            if not answer.mistake and "needs" not in answer.facts}  # fmt: skip
    return [
        pytest.param(answer, id=check, marks=[pytest.mark.proof] if check in SLOW else [])
        for check, answer in sorted(bank.items())
    ]


def with_habits(answer: Answer) -> str:
    """Return the verdict on an answer in a process whose modules a student has changed."""
    vars(current_process())["_config"]["tempdir"] = (
        tempfile.gettempdir()
    )  # as a grader's sandbox does, where the cluster's fast disk is not
    for source in HABITS.values():
        exec(source, {})
    found = verdict(answer)
    return f"{found.mistake}: {found.message}" if found.mistake else ""


@pytest.mark.slow  # all exercises
@pytest.mark.parametrize("answer", first_right())
def test_right_answer_is_right_after_all_habits(answer):
    assert in_child(with_habits, answer) == ""

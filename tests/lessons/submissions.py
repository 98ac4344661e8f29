"""Build submissions from the bank: released lessons with an answer to each exercise."""

import shutil
from itertools import groupby, zip_longest
from pathlib import Path

import nbformat

from grading.answers.bank import Answer, answers
from tests.lessons.lesson import Lesson, graded, read, solved


def rows(lesson: Lesson, bank: list[Answer] | None = None) -> list[list[Answer]]:
    """Return the answers in each submission: the k-th has the k-th answer to every exercise.

    Args:
        lesson: The lesson.
        bank: Its answers that are handed in; by default all.
    """
    by_exercise = sorted(bank or answers(lesson.module_name), key=lambda answer: answer.check)
    exercises = groupby(by_exercise, key=lambda answer: answer.check)
    with_marks = graded(read(lesson.solution))
    banks = [list(group) for check, group in exercises if check in with_marks]
    return [[answer for answer in row if answer] for row in zip_longest(*banks)]


def hand_in(course: Path, lesson: Lesson, student: str, sources: dict[str, str]) -> Path:
    """Write a student's notebook to `submitted/`.

    Args:
        course: The course's folder, with the lesson released.
        lesson: The lesson.
        student: The student's id.
        sources: Sources of answers by check name; the other exercises stay unsolved.

    Returns:
        The path of the notebook.
    """
    folder = shutil.copytree(course / "notebooks" / lesson.name, course / "submitted" / student / lesson.name)
    notebook = read(folder / f"{lesson.name}.ipynb")
    for check, source in sources.items():
        solved(notebook)[f"{check}_answer"].source = source
    nbformat.write(notebook, folder / f"{lesson.name}.ipynb")
    return folder / f"{lesson.name}.ipynb"

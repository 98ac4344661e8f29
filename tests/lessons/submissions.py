"""Submissions made from the bank: released lessons with an answer in each exercise."""

import shutil
from itertools import groupby, zip_longest
from pathlib import Path

import nbformat

from tests.bank import Answer, answers
from tests.lessons.lesson import Lesson, read, solved


def rows(lesson: Lesson) -> list[list[Answer]]:
    """The k-th submission takes the k-th answer of every exercise that has as many."""
    banks = [list(bank) for _, bank in groupby(answers(lesson.module_name), key=lambda answer: answer.check)]
    return [[answer for answer in row if answer] for row in zip_longest(*banks)]


def hand_in(course: Path, lesson: Lesson, student: str, sources: dict[str, str]) -> Path:
    """Put a student's notebook into `submitted/`.

    Args:
        course: the course's folder, with the lesson released.
        lesson: which.
        student: their id.
        sources: the name of a check to the source of its answer; the other exercises stay unsolved.

    Returns:
        The notebook.
    """
    folder = shutil.copytree(course / "notebooks" / lesson.name, course / "submitted" / student / lesson.name)
    notebook = read(folder / f"{lesson.name}.ipynb")
    for check, source in sources.items():
        solved(notebook)[f"{check}_answer"].source = source
    nbformat.write(notebook, folder / f"{lesson.name}.ipynb")
    return folder / f"{lesson.name}.ipynb"

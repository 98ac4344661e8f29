"""Finding the notebook that a student has worked in."""

import pytest

from course_utils.grading.submission.notebook_choice import choose_notebook

EXPECTED = "01_a.ipynb"
WORK = b'{"cells": [{"metadata": {"nbgrader": {"grade_id": "x"}}}]}'
EMPTY = b'{"cells": []}'


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({}, None),
        ({"notes.txt": WORK}, None),
        ({EXPECTED: WORK}, EXPECTED),
        ({EXPECTED: b""}, EXPECTED),
        ({"mine.ipynb": EMPTY}, "mine.ipynb"),
        ({"mine.ipynb": WORK, "Untitled.ipynb": EMPTY}, "mine.ipynb"),
        ({"mine.ipynb": WORK.decode().encode("utf-16"), "Untitled.ipynb": EMPTY}, "mine.ipynb"),
        ({"a.ipynb": WORK, "01_a (final).ipynb": WORK}, "01_a (final).ipynb"),
        ({"old/mine.ipynb": WORK, "mine.ipynb": WORK}, "mine.ipynb"),
        ({EXPECTED: EMPTY, "backup.ipynb": WORK}, EXPECTED),
        ({EXPECTED: b"", "01_a-Copy1.ipynb": WORK}, "01_a-Copy1.ipynb"),
        ({EXPECTED: WORK[:30], "01_a-Copy1.ipynb": WORK}, "01_a-Copy1.ipynb"),
        ({EXPECTED: WORK[:30], "Copy.ipynb": WORK[:30]}, EXPECTED),
        ({EXPECTED: WORK + bytes(4096), "Copy.ipynb": WORK}, EXPECTED),
    ],
)
def test_notebook_with_the_students_work_is_chosen(files, chosen):
    assert choose_notebook(files, EXPECTED) == chosen

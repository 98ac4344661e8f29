"""Finding the notebook that a student has worked in."""

import json

import pytest

from grading.submission.notebook_choice import choose_notebook

EXPECTED = "01_a.ipynb"
WORK = b'{"cells": [{"metadata": {"nbgrader": {"grade_id": "x"}}}]}'
EMPTY = b'{"cells": []}'


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({}, None),
        ({"notes.txt": b"my notes"}, None),
        ({"01_a.ipynb.txt": WORK, "notes.txt": b"my notes"}, "01_a.ipynb.txt"),
        ({"01_a.IPYNB": WORK}, "01_a.IPYNB"),
        ({"download": WORK}, "download"),
        ({EXPECTED: WORK, "01_a.ipynb.txt": WORK}, EXPECTED),
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


ANSWER = json.dumps(
    {"cells": [{"metadata": {"nbgrader": {"grade_id": "x"}}, "source": "def f():\n    return 1"}]}
)
UNTOUCHED = ANSWER.replace("return 1", "# YOUR CODE HERE\\n    raise NotImplementedError()")


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({EXPECTED: UNTOUCHED, "01_a-Copy1.ipynb": ANSWER}, "01_a-Copy1.ipynb"),
        ({EXPECTED: UNTOUCHED, "01_a-Copy1.ipynb": UNTOUCHED}, EXPECTED),
        ({EXPECTED: ANSWER, "01_a-Copy1.ipynb": ANSWER}, EXPECTED),
        ({EXPECTED: UNTOUCHED, "02_b.ipynb": ANSWER.replace('"x"', '"y"')}, EXPECTED),
        ({EXPECTED: UNTOUCHED, "01_a-Copy1.ipynb": ANSWER[:-9]}, EXPECTED),
    ],
)
def test_copy_is_chosen_where_the_notebook_itself_is_as_released(files, chosen):
    assert choose_notebook({name: text.encode() for name, text in files.items()}, EXPECTED, stubs=1) == chosen

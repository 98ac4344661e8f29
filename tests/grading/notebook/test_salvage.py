"""A notebook file that is no JSON any more keeps each cell that can still be read."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook, writes

from grading.notebook.restore import LOST, restore_notebook
from tests.grading.notebook.test_restore import _marks

ANSWER = 'def f(numbers):\n    return {"cell_type": sum(numbers)}["cell_type"]  # <<<<<<< {"id": 1}\n'
RELEASED = new_notebook(
    cells=[
        new_code_cell("import math", metadata={"tags": ["setup"]}, id="s"),
        new_code_cell("raise NotImplementedError()", metadata=_marks("sum_answer", solution=True), id="a"),
        new_code_cell("checks.sum(f)", metadata=_marks("sum", grade=True, locked=True, points=2), id="g"),
    ],
    metadata={"kernelspec": {"name": "python3", "display_name": "P"}},
)


def solved() -> str:
    data = json.loads(writes(RELEASED))
    data["cells"][1]["source"] = ANSWER.splitlines(keepends=True)
    return json.dumps(data, indent=1)


def restored(text: str):
    return restore_notebook(text.encode(errors="surrogatepass"), RELEASED)


def conflict(first: str, second: str, base: str = "") -> str:
    base = f"||||||| 1a2b3c\n{base}" if base else ""
    return f"<<<<<<< HEAD\n{first}{base}=======\n{second}>>>>>>> origin/main\n"


COUNT = '   "execution_count": null,\n'


@pytest.mark.parametrize("base", ["", '   "execution_count": 1,\n'])
def test_of_merge_conflicts_the_first_version_is_graded(base):
    text = solved().replace(COUNT, conflict('   "execution_count": 7,\n', '   "execution_count": 8,\n', base))
    assert text.count("<<<<<<< HEAD") == 3
    found = restored(text)
    assert (found.readable, found.notebook.cells[1].source) == (True, ANSWER)
    assert "merge conflict (line 5)" in found.findings[0].what


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace('   "source": [\n    "checks', '   "source": [,\n    "checks'),
        lambda text: text.replace("},\n  {", "},,\n  {"),
        lambda text: text.replace("},\n  {", "}\n  {"),
        lambda text: text + "}",
        lambda text: text.replace(COUNT, "<<<<<<< HEAD\n" + COUNT, 1),
        lambda text: text[: text.index('"checks')],
    ],
    ids=["comma in a later cell", "two commas", "no comma", "brace too many", "half a conflict", "cut off"],
)
def test_cell_that_can_be_read_keeps_its_answer(damage):
    found = restored(damage(solved()))
    assert (found.readable, found.notebook.cells[1].source) == (True, ANSWER)
    assert "cut off or damaged (line" in found.findings[0].what


def test_damaged_answer_is_lost_and_named():
    found = restored(solved().replace('   "source": [\n    "def f', '   "source": [,\n    "def f'))
    assert found.notebook.cells[1].source == LOST
    assert len(found.findings) > 1


@pytest.mark.parametrize("text", ["", "{", "hello", '{"cells": [{"cell_type"', '{"id": 1} {"source": []}'])
def test_file_without_a_readable_cell_is_unreadable(text):
    assert not restored(text or " ").readable


@given(st.integers(0, len(solved()) - 2))
def test_wherever_a_file_is_cut_off_whole_cells_before_it_are_kept(size):
    text = solved()
    found = restored(text[:size])
    setup, answer = (end.end() - 1 for end in re.finditer(r"\n  \},", text))
    assert found.readable == (size >= setup)
    if size >= answer:
        assert found.notebook.cells[1].source == ANSWER


@given(st.text(st.sampled_from('{}[]",:<=>| \n') | st.characters(), max_size=200), st.integers(0, 2000))
def test_any_text_put_anywhere_raises_nothing(junk, place):
    text = solved()
    restored(text[:place] + junk + text[place:])

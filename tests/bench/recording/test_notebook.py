"""Recorded text is written to one cell of a lesson, and changes nothing else."""

import json

import nbformat
import pytest

from tests.bench.recording import notebook
from tests.bench.recording.keep_outputs import keep

CELLS = [
    {"cell_type": "markdown", "id": "first", "metadata": {}, "source": ["one\n", "two"]},
    {"cell_type": "code", "id": "last", "metadata": {}, "source": ["3"]},
]


@pytest.fixture
def shown(tmp_path, monkeypatch):
    monkeypatch.setattr(notebook, "SOLUTIONS", tmp_path)
    (tmp_path / "00_lesson").mkdir()
    text = json.dumps({"cells": CELLS, "metadata": {"é": 1}}, indent=1, ensure_ascii=False)
    notebook.lesson_path("00_lesson").write_text(text + "\n")
    return "00_lesson"


def test_text_of_a_cell_is_replaced_and_the_same_text_changes_nothing(shown):
    before = notebook.lesson_path(shown).read_bytes()
    notebook.write_cell(shown, "first", "three\nfour")
    assert notebook.read_cell(shown, "first") == "three\nfour"
    notebook.write_cell(shown, "first", "one\ntwo")
    assert notebook.lesson_path(shown).read_bytes() == before


def test_new_cell_stands_below_the_one_that_is_named(shown):
    for text in ("first text", "second text"):
        notebook.write_cell(shown, "new", text, after="first")
    found = json.loads(notebook.lesson_path(shown).read_text())["cells"]
    assert [cell["id"] for cell in found] == ["first", "new", "last"]
    assert notebook.read_cell(shown, "new") == "second text"


def test_former_outputs_are_kept_but_those_of_new_and_changed_cells():
    cell = nbformat.v4.new_code_cell
    result = nbformat.v4.new_output("execute_result", {"text/plain": "old"}, execution_count=1)
    names = {"same": "1", "changed": "2", "asked": "3"}
    old = nbformat.v4.new_notebook(
        cells=[cell(text, id=name, outputs=[result], execution_count=1) for name, text in names.items()]
    )
    new = nbformat.v4.new_notebook(
        cells=[
            cell("0", id="new", execution_count=1),
            *(cell(text, id=name, execution_count=n) for n, (name, text) in enumerate(names.items(), 2)),
        ]
    )
    new.cells[2].source = "other"
    keep(new, old, ["asked"])
    assert [len(one.outputs) for one in new.cells] == [0, 1, 0, 0]
    assert new.cells[1].outputs[0].execution_count == 2

"""Recorded text is written to one cell of a lesson, and changes nothing else."""

import json

import pytest

from tests.bench.recording import notebook

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

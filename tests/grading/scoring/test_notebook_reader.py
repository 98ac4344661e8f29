"""Reading submitted notebooks with bounds on processor time and memory."""

from functools import partial
from types import SimpleNamespace

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

from grading.notebook.restore import restore_notebook
from grading.scoring import bounded
from grading.scoring.notebook_reader import read_notebook
from tests.grading.toy_course import LESSON, make_course


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course")).lesson(LESSON)


def submission_of(lesson, *texts):
    notebook = nbformat.from_dict(lesson.released)
    notebook.cells = [*notebook.cells, *map(new_markdown_cell, texts)]
    raw = nbformat.writes(notebook).encode()
    return SimpleNamespace(notebook=lambda: raw, files=dict)


def test_notebook_read_in_another_process_is_the_same(toy):
    submission = submission_of(toy, "my *notes*")
    expected = restore_notebook(submission.notebook(), toy.released)
    assert read_notebook(toy, submission) == expected


def test_text_that_takes_a_parser_too_long_makes_the_notebook_unreadable(toy, monkeypatch):
    monkeypatch.setattr(bounded, "Bounds", partial(bounded.Bounds, cpu_seconds=1))
    restored = read_notebook(toy, submission_of(toy, *["&" * 400_000] * 4))
    assert not restored.readable
    assert [finding.kind for finding in restored.findings] == ["damaged"]
    assert "processor time" in restored.findings[0].what
    assert len(restored.notebook.cells) == len(toy.released.cells)

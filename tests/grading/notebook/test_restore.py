"""Restoring notebooks that are not as released; the attacks are restored in the same way."""

import json
from importlib.metadata import version

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, writes

from grading.notebook.restore import LOST, restore_notebook


def _marks(name, **marks):
    return {"nbgrader": {"grade": False, "solution": False, "locked": False, "grade_id": name, **marks}}


@pytest.fixture
def released():
    answer = new_code_cell(
        "raise NotImplementedError()", metadata=_marks("sum_answer", solution=True), id="a"
    )
    graded = new_code_cell("checks.sum(f)", metadata=_marks("sum", grade=True, locked=True, points=2), id="g")
    setup = new_code_cell("import math", metadata={"tags": ["setup"]}, id="s")
    cells = [new_markdown_cell("Text", id="t"), setup, answer, graded]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "P"}})


def _repaired(released, edit=lambda data: None):
    data = json.loads(writes(released))
    edit(data)
    return restore_notebook(json.dumps(data).encode(), released)


def test_valid_notebook_is_unchanged(released):
    restored = _repaired(released)
    assert [cell.source for cell in restored.notebook.cells] == [cell.source for cell in released.cells]
    assert restored.findings == []


def test_answer_is_kept_and_locked_cell_is_restored(released):
    def edit(data):
        data["cells"][2]["source"] = "f = sum"
        data["cells"][3]["source"] = "pass"

    restored = _repaired(released, edit)
    assert [cell.source for cell in restored.notebook.cells[2:]] == ["f = sum", "checks.sum(f)"]
    assert [finding.kind for finding in restored.findings] == ["tampered"]


def test_deleted_answer_leaves_no_stub_that_could_override_another_cell(released):
    restored = _repaired(released, lambda data: data["cells"].pop(2))
    assert restored.notebook.cells[2].source == LOST


def test_changed_setup_follows_the_original(released):
    restored = _repaired(released, lambda data: data["cells"][1].update(source="import random"))
    assert [cell.source for cell in restored.notebook.cells[1:3]] == ["import math", "import random"]


def test_own_cells_keep_their_position(released):
    own = {"cell_type": "code", "metadata": {}, "source": "mine = 1", "outputs": [], "execution_count": None}
    restored = _repaired(released, lambda data: data["cells"].insert(2, own))
    assert [cell.source for cell in restored.notebook.cells][1:3] == ["import math", "mine = 1"]


def test_outputs_and_metadata_of_a_submission_are_dropped(released):
    def edit(data):
        data["metadata"]["widgets"] = {"x": 1}
        data["cells"][2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "✓"}]

    restored = _repaired(released, edit)
    assert restored.notebook.cells[2].outputs == []
    assert "widgets" not in restored.notebook.metadata


@pytest.mark.parametrize(
    ("stated", "kinds"),
    [
        ("0.0.1", ["other version"]),
        (version("feeding-the-gpu"), []),
        (None, []),
        ("1.0; import os", []),
        ({"deep": [1]}, []),
    ],
)
def test_notebook_of_another_version_is_reported(released, stated, kinds):
    restored = _repaired(released, lambda data: data["metadata"].update(course_version=stated))
    assert [finding.kind for finding in restored.findings] == kinds


@pytest.mark.parametrize(
    ("stated", "kinds"),
    [
        ({"kernelspec": {"language": "R"}}, ["damaged"]),
        ({"language_info": {"name": "julia"}}, ["damaged"]),
        ({"kernelspec": {"language": "R"}, "language_info": {"name": "R"}}, ["damaged"]),
        ({"kernelspec": {"language": 7}}, ["damaged"]),
        ({"kernelspec": {"language": "Python"}, "language_info": {"name": "PYTHON"}}, []),
        ({"kernelspec": {"language": [[]] * 99}}, ["damaged"]),
        ({"kernelspec": {"name": "ir"}, "language_info": {"name": None}}, []),
        ({"kernelspec": "R", "language_info": None}, []),
    ],
)
def test_notebook_in_another_language_is_reported_with_what_to_do(released, stated, kinds):
    restored = _repaired(released, lambda data: data["metadata"].update(stated))
    assert [finding.kind for finding in restored.findings] == kinds
    assert all("Change Kernel" in finding.what for finding in restored.findings)


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_texts_of_a_student_are_sanitised(released, kind):
    link, picture = "[a](javascript:x)", "![p](attachment:p.png)"

    def edit(data):
        pictures = {"p.png": {"image/png": "iVBORw0KGgo="}}
        data["cells"][0]["source"] = link
        data["cells"].append({"cell_type": kind, "metadata": {}, "source": link})
        data["cells"].append({"cell_type": kind, "metadata": {}, "source": picture, "attachments": pictures})

    cells = [cell for cell in _repaired(released, edit).notebook.cells if cell.cell_type != "code"]
    assert len(cells) == 3
    assert not any("javascript" in cell.source or "attachments" in cell for cell in cells)
    assert '<img src="data:image/png;base64,iVBORw0KGgo="' in cells[-1].source


@pytest.mark.parametrize("raw", [None, b"", b"{", b"[]", b'{"cells": 3}', b"\xff"])
def test_unreadable_file_is_one_finding_and_the_released_notebook(released, raw):
    restored = restore_notebook(raw, released)
    assert not restored.readable
    assert [finding.kind for finding in restored.findings] == ["damaged"]
    assert len(restored.notebook.cells) == len(released.cells)


def test_restoring_is_idempotent(released):
    once = _repaired(released, lambda data: data["cells"].reverse())
    again = restore_notebook(writes(once.notebook).encode(), released)
    assert again.findings == []
    assert [cell.source for cell in again.notebook.cells] == [cell.source for cell in once.notebook.cells]


DEEP = json.loads("[" * 800 + "]" * 800)


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data.update(nbformat=DEEP),
        lambda data: data["metadata"].update(kernelspec={"name": DEEP}),
        lambda data: data["cells"][2]["metadata"]["nbgrader"].update(grade_id=DEEP, points=DEEP),
        lambda data: data["cells"][2]["metadata"].update(
            tags=[DEEP, "\ud800"], nbgrader={"\ud800": 10**4000}
        ),
        lambda data: data["cells"][2].update(id=DEEP),
        lambda data: data["cells"].append(
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": "x",
                "attachments": {"a": {"image/png": DEEP}},
            }
        ),
        lambda data: data["cells"].extend([{"cell_type": "code", "source": "x" * 2**20 + "x"}]),
    ],
)
def test_hostile_value_costs_nothing_but_itself(released, edit):
    restored = _repaired(released, edit)
    assert restored.readable
    assert restored.notebook.cells[2].source == released.cells[2].source
    assert len(restored.findings) <= 4
    assert all(len(finding.what) < 300 for finding in restored.findings)
    assert writes(restored.notebook).encode()


def test_integer_of_any_length_is_read(released):
    raw = writes(released).replace('"nbformat": 4', '"nbformat": ' + "9" * 5000).encode()
    assert restore_notebook(raw, released).readable


@pytest.mark.parametrize("part", [b"[],", b"1,", b'"ab",'])
def test_notebook_of_very_many_values_is_unreadable_before_it_is_parsed(released, part):
    restored = restore_notebook(b'{"cells": [' + part * 8_000_000 + b"1]}", released)
    assert "too many values" in restored.findings[0].what

"""The start page as a file: valid, written anew, with a student's own cells, and from the command line."""

import json
import os
from pathlib import Path

import nbformat
import pytest

from course_utils.start_page import machine_notes as notes
from course_utils.start_page.__main__ import main
from course_utils.start_page.index_notebook import INDEX, write_index
from course_utils.update.merge import merge_notebooks
from tests.start_page.lessons import WRITTEN, exercise, passed, save_lesson


def test_page_is_a_valid_notebook_that_shows_its_output(tmp_path: Path):
    save_lesson(tmp_path, exercise("json_labels", WRITTEN, passed()))
    page = nbformat.read(write_index(tmp_path), as_version=4)
    nbformat.validate(page)
    [output] = page.cells[1].outputs
    assert "1 of 4 passed" in output.data["text/markdown"]
    assert "1 of 4 passed" in output.data["text/plain"]
    assert page.cells[0].source.startswith("# ")


def test_unchanged_page_is_not_written_again(tmp_path: Path):
    save_lesson(tmp_path)
    path = write_index(tmp_path, this_machine=False)
    os.utime(path, (0, 0))
    write_index(tmp_path, this_machine=False)
    assert path.stat().st_mtime == 0


def test_students_own_cells_stay(tmp_path: Path):
    save_lesson(tmp_path)
    path = write_index(tmp_path)
    page = json.loads(path.read_text())
    page["cells"].insert(
        1, {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": "due on Friday"}
    )
    path.write_text(json.dumps(page))
    write_index(tmp_path)
    assert [cell["id"] for cell in json.loads(path.read_text())["cells"]] == [
        "introduction",
        "progress",
        "mine",
    ]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"cells": 1}', '{"cells": [1]}'])
def test_damaged_page_is_replaced(tmp_path: Path, damage: str):
    save_lesson(tmp_path)
    (tmp_path / INDEX).write_text(damage)
    nbformat.validate(nbformat.read(write_index(tmp_path), as_version=4))


def test_folder_that_cannot_be_written_to_is_reported(tmp_path: Path, capsys):
    (tmp_path / INDEX).mkdir()  # root may write anywhere, but not over a folder
    save_lesson(tmp_path, exercise("json_labels", WRITTEN, passed()))
    assert main(["--write", str(tmp_path)]) == 1
    assert "python -m course_utils.start_page" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 0
    assert "1 of 4 passed" in capsys.readouterr().out


def test_machine_without_data_gpu_and_libraries_says_what_to_do(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(notes, "_has_gpu", lambda: False)
    wanted = [
        "numpy>=2",
        'msgspec; extra == "formats"',
        'no-h5py; extra == "formats"',
        'no-ruff; extra == "test"',
    ]
    monkeypatch.setattr(notes, "requires", lambda package: wanted)
    data, gpu, libraries = notes.machine_notes(["03", "04"])
    assert "make data" in data
    assert "lesson 03 runs on the CPU" in gpu
    assert "need no-h5py; `pip install 'feeding-the-gpu[formats]'`" in libraries
    assert len(notes.machine_notes(["00"])) == 1


def test_update_of_the_course_merges_the_page_and_keeps_what_is_the_students(tmp_path: Path):
    """The students' repository tracks the page, and each `make lab` writes the student's one."""
    save_lesson(tmp_path)
    path = write_index(tmp_path)
    base = json.loads(path.read_text())
    save_lesson(tmp_path, exercise("json_labels", WRITTEN, passed()))
    mine = json.loads(write_index(tmp_path).read_text())
    mine["cells"].append({"cell_type": "markdown", "id": "mine", "metadata": {}, "source": "due on Friday"})
    theirs = json.loads(json.dumps(base).replace("# Feeding the GPU", "# Feeding it"))
    merged = merge_notebooks(base, mine, theirs)
    assert [cell["id"] for cell in merged["cells"]] == ["introduction", "progress", "mine"]
    assert merged["cells"][0]["source"].startswith("# Feeding it")
    assert "1 of 4 passed" in str(merged["cells"][1]["outputs"])

"""Lessons in a source folder."""

from pathlib import Path

import pytest

from grading.course.lesson import lesson_names
from tests.grading.toy_course import LESSON, make_course


def test_lessons_are_numbered_folders_with_a_notebook_of_their_name(tmp_path: Path):
    for name in [
        "02_b/02_b.ipynb",
        "01_a/01_a.ipynb",
        "03_c/notes.txt",
        "04_d/other.ipynb",
        "drafts/drafts.ipynb",
    ]:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert lesson_names(tmp_path) == ["01_a", "02_b"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course")).lesson(LESSON)


def test_graded_cells_are_read_with_their_checks_and_points(toy):
    assert [(one.check, one.answers, one.points) for one in toy.graded.values()] == [
        ("total", "total_of, ", 2.0),
        ("largest", "largest_of, ", 2.0),
        ("backwards", "backwards, ", 2.0),
    ]
    assert toy.points == 6.0
    assert toy.files() == {"lesson_file.txt": b"a file of the lesson\n"}


def test_version_changes_with_cells_and_files(toy):
    before = toy.version()
    file = toy.folder / "lesson_file.txt"
    text = file.read_text()
    file.write_text("changed")
    assert toy.version() != before
    file.write_text(text)
    assert toy.version() == before
    toy.source.cells[0].source += "!"
    assert toy.version() != before
    toy.source.cells[0].source = toy.source.cells[0].source[:-1]

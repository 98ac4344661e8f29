"""The cells and the picture of lesson 04 about choosing a format are those of the facts."""

from xml.etree import ElementTree

import pytest

from tests.bench.recording.notebook import lesson_path, read_cell
from tests.lessons import format_cells
from tests.lessons.format_picture import picture

AGAIN = "python -m tests.lessons.format_cells --write"


@pytest.mark.parametrize("name", format_cells.cells())
def test_cell_is_the_generated_one(name):
    assert read_cell(format_cells.LESSON, name) == format_cells.cells()[name], AGAIN


def test_picture_is_the_generated_one():
    path = lesson_path(format_cells.LESSON).parent / format_cells.PICTURE
    assert path.read_text() == picture(), AGAIN
    assert ElementTree.fromstring(picture()).get("height")


def test_statement_is_short():
    text, _, _ = format_cells.statement("### Exercise").partition("| requirement")
    assert len(text.split()) <= 150

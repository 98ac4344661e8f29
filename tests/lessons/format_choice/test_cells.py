"""The cells and the picture of lesson 04 about choosing a format are those of the facts."""

from xml.etree import ElementTree

import pytest

from tests.bench.recording.notebook import lesson_path, read_cell
from tests.lessons.format_choice import cells as generated
from tests.lessons.format_choice.picture import picture

AGAIN = "python -m tests.lessons.format_choice.cells --write"


@pytest.mark.parametrize("name", generated.cells())
def test_cell_is_the_generated_one(name):
    assert read_cell(generated.LESSON, name) == generated.cells()[name], AGAIN


def test_picture_is_the_generated_one():
    path = lesson_path(generated.LESSON).parent / generated.PICTURE
    assert path.read_text() == picture(), AGAIN
    assert ElementTree.fromstring(picture()).get("height")

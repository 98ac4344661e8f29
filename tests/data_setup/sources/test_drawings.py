from pathlib import Path
from xml.etree import ElementTree

import pytest

from data_setup.sources import drawings

SHIPPED = Path(__file__).parents[3] / "solutions" / "01_jpeg_vs_zip" / "pictures"


def test_the_lesson_ships_the_drawings_as_made(tmp_path):
    drawings.make(tmp_path)
    assert {p.name: p.read_text() for p in SHIPPED.iterdir()} == {
        p.name: p.read_text() for p in tmp_path.iterdir()
    }


@pytest.mark.parametrize("name", drawings.DRAWINGS)
def test_a_drawing_is_well_formed_and_all_of_it_is_inside(name):
    root = ElementTree.fromstring(drawings.DRAWINGS[name]())
    width, height = float(root.get("width")), float(root.get("height"))
    for part in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert float(part.get("x", 0)) + float(part.get("width")) <= width
        assert float(part.get("y", 0)) + float(part.get("height")) <= height

from pathlib import Path
from xml.etree import ElementTree

import pytest

from data_setup.lesson_assets.drawings import DRAWINGS, make_drawings

SHIPPED = Path(__file__).parents[3] / "solutions" / "01_jpeg_vs_zip" / "pictures"
RECTANGLE = "{http://www.w3.org/2000/svg}rect"


def test_shipped_drawings_are_up_to_date(tmp_path):
    make_drawings(tmp_path)
    assert {p.name: p.read_text() for p in SHIPPED.iterdir()} == {
        p.name: p.read_text() for p in tmp_path.iterdir()
    }


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawing_is_well_formed_and_fits_its_frame(name):
    root = ElementTree.fromstring(DRAWINGS[name]())
    width, height = float(root.get("width")), float(root.get("height"))
    rectangles = list(root.iter(RECTANGLE))
    assert len(rectangles) > 1  # more than the background
    for rectangle in rectangles:
        assert float(rectangle.get("x", 0)) + float(rectangle.get("width")) <= width
        assert float(rectangle.get("y", 0)) + float(rectangle.get("height")) <= height

from pathlib import Path
from xml.etree import ElementTree

import pytest

from data_setup.lesson_assets.drawings import DRAWINGS, make_drawings

SHIPPED = Path(__file__).parents[3] / "solutions" / "01_jpeg_vs_zip" / "pictures"
RECTANGLE = "{http://www.w3.org/2000/svg}rect"
LINE = "{http://www.w3.org/2000/svg}line"


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


def test_no_arrow_crosses_a_box():
    root = ElementTree.fromstring(DRAWINGS["many_or_one.svg"]())
    boxes = [[float(box.get(name)) for name in ("x", "y", "width", "height")] for box in root.iter(RECTANGLE)]
    arrows = [line for line in root.iter(LINE) if line.get("marker-end")]
    assert len(arrows) > 20
    for line in arrows:
        x1, y1, x2, y2 = (float(line.get(name)) for name in ("x1", "y1", "x2", "y2"))
        for step in range(100):
            x, y = x1 + step / 100 * (x2 - x1), y1 + step / 100 * (y2 - y1)
            assert not [box for box in boxes if 0 < x - box[0] < box[2] and 0 < y - box[1] < box[3]]

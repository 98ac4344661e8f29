"""The page of a record says what was measured, and whether what was asked for is reached."""

import pytest

from tests.bench.train_script.figure import draw
from tests.bench.train_script.page import page

RECORD = {
    "made": "2026-11-25",
    "machine": "Linux, 2 cores",
    "python": "3.11.7",
    "images": 1500,
    "load": 0.1,
    "speeds": {"given": [500.0, 600.0], "00": [500.0, 600.0], "03": [1600.0, 1800.0]},
    "ceilings": {"given": [2500.0, 2400.0], "03": [2000.0, 2000.0]},
    "learned": dict.fromkeys(["given", "00", "03"], "46% right, samples 8fec466f"),
}


def test_ratios_are_those_of_one_round():
    rows = [line for line in page(RECORD).splitlines() if line.startswith("| after lesson 03")]
    assert rows == [
        "| after lesson 03 | 1,700 (1,600 to 1,800) | 3.1 (3.0 to 3.2) | 0.85 (0.80 to 0.90) "
        "| 46% right, samples 8fec466f |"
    ]


@pytest.mark.parametrize(("factor", "words"), [(1, "reached"), (0.5, "not reached")])
def test_page_says_whether_what_was_asked_for_is_reached(factor, words):
    speeds = {**RECORD["speeds"], "03": [factor * speed for speed in RECORD["speeds"]["03"]]}
    assert page({**RECORD, "speeds": speeds}).count(f"; {words}.") == 2


def test_figure_is_an_image(tmp_path):
    draw(RECORD, tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()

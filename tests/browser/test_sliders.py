"""The sliders in JupyterLab: the keyboard alone moves them, and the numbers follow."""

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_lab import KERNEL_READY, run_all, save
from tests.lessons.lesson import COURSE

CELLS = [
    """from course_utils.figures import use_course_style
from course_utils.pipeline import Pipeline, StageTimes
from course_utils.sliders import pipeline_sliders, scaling_sliders, shared_fs_sliders
from course_utils.scaling import Training, reading_ways
from course_utils.storage import FileOps

use_course_style()""",
    "shared_fs_sliders({'JPEG files': FileOps(2000, 2000, 6000), 'zip': FileOps(1, 1, 2000)})",
    "pipeline_sliders(Pipeline(workers=2), StageTimes(read=.002, decode=.02, transfer=.002, compute=.008))",
    """ways = reading_ways(FileOps(10**6, 10**6, 3 * 10**6, 0, 10**11), FileOps(8, 8, 10**6, 0, 10**11))
training = Training(StageTimes(decode=1.2, compute=0.1), ways[0], 10**6, 256, workers=16, epochs=10)
scaling_sliders(training, ways[1])""",
]
# The name of a slider, a key that moves it, and what the numbers then say.
MOVES = [
    ("taken by others (%)", "End", "others take 95 % of the servers"),
    ("workers", "ArrowRight", "the longest is 8 ms"),
    ("nodes: 2 to the power of", "ArrowRight", "32 nodes"),
]
SLIDER = ".widget-slider:has(label:text-is({0!r})) .noUi-handle"


@pytest.fixture
def sliders(course: Path) -> Path:
    """A notebook with the three panels."""
    path = course / "sliders.ipynb"
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
    return path


def test_keyboard_moves_sliders_and_the_numbers_follow(page: Page, lab: str, sliders: Path):
    server, query = lab.split("/lab/tree/")[0], lab.split("?")[1]
    page.goto(f"{server}/lab/tree/{sliders.name}?reset&{query}")
    page.wait_for_selector(KERNEL_READY)
    run_all(page)
    page.set_viewport_size({"width": 1400, "height": 2600})
    panels = page.locator(".jp-OutputArea .widget-vbox")
    expect(panels).to_have_count(len(MOVES))
    for panel, (name, key, numbers) in zip(panels.all(), MOVES, strict=True):
        before = panel.locator("img").get_attribute("src")
        expect(panel.locator("pre")).not_to_contain_text(numbers)
        panel.locator(SLIDER.format(name)).focus()
        page.keyboard.press(key)
        expect(panel.locator("pre")).to_contain_text(numbers)
        expect(panel.locator("img")).not_to_have_attribute("src", before)
    folder = COURSE / "artifacts" / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / "sliders.png")
    page.set_viewport_size({"width": 800, "height": 2600})
    for panel in panels.all():
        room, picture = panel.bounding_box(), panel.locator("img").bounding_box()
        assert picture["x"] + picture["width"] <= room["x"] + room["width"]
    notebook = save(page, sliders)
    assert "widgets" not in notebook.metadata
    shown = [output for cell in notebook.cells for output in cell.outputs]
    assert all({"image/png", "text/plain"} <= set(output.data) for output in shown)

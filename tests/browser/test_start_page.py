"""The start page in JupyterLab: it counts an exercise that was passed, and leads to lessons and back."""

import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Page, expect

from course_utils.start_page import ALL_LESSONS, write_index
from tests.browser.test_lab import KERNEL_READY, RUN_MS, run_all, save
from tests.lessons.lesson import COURSE, LESSONS, Lesson, graded, read, solved

LESSON = Lesson("01_jpeg_vs_zip")
TITLE = f"# Lesson 01: one exercise of it\n\n{ALL_LESSONS}\n\n**You need** lesson 00. No GPU."
SETUP = "import torch\nfrom course_utils.checks import jpeg_vs_zip"


@pytest.fixture
def solved_lesson(course: Path) -> Path:
    """A folder of lessons that holds the solution of one exercise, whose check did not run."""
    answer = solved(read(LESSON.solution))["raw_pixels_answer"]
    check = graded(read(LESSON.solution))["raw_pixels"]
    check.outputs, check.execution_count = [], None
    cells = [nbformat.v4.new_markdown_cell(TITLE), nbformat.v4.new_code_cell(SETUP), answer, check]
    metadata = read(LESSON.solution).metadata
    path = course / "one lesson" / LESSON.name / f"{LESSON.name}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=metadata), path)
    return path


def test_make_lab_opens_the_start_page(lab: str, course: Path):
    assert re.search(r"/lab/tree/notebooks/index\.ipynb\?token=", lab)
    exercises = sum(len(graded(read(one.solution))) for one in LESSONS)
    assert f"0 of {exercises} exercises passed" in (course / "notebooks" / "index.ipynb").read_text()


def test_page_counts_a_passed_exercise(page: Page, lab: str, solved_lesson: Path):
    index = write_index(solved_lesson.parents[1])
    server, query = lab.split("/lab/tree/")[0], lab.split("?")[1]
    page.goto(f"{server}/lab/tree/one lesson/{index.name}?reset&{query}")
    shown = page.locator(".jp-OutputArea .jp-RenderedMarkdown")
    shown.wait_for()
    expect(shown).to_contain_text("0 of 4 exercises passed. Continue with 01 One exercise of it")
    headings = [re.compile(text) for text in ("Where you are", "Lessons", "Your script", "Map")]
    expect(shown.get_by_role("heading", level=2)).to_have_text(headings)

    shown.get_by_role("link", name="01 One exercise of it").first.click()
    page.wait_for_url("**/01_jpeg_vs_zip.ipynb*")
    lesson = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    lesson.get_by_role("heading", name="Lesson 01").wait_for()
    page.wait_for_selector(KERNEL_READY, timeout=RUN_MS)
    run_all(page)
    save(page, solved_lesson)

    lesson.get_by_role("link", name="All lessons").click()
    page.wait_for_url(f"**/{index.name}*")
    run_all(page)
    expect(shown).to_contain_text("1 of 4 exercises passed.", timeout=RUN_MS)
    folder = COURSE / "artifacts" / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / "start-page.png")

"""All lessons in JupyterLab in a browser, from the first cell to the last."""

import itertools
from pathlib import Path

import pytest
from nbformat import NotebookNode
from playwright.sync_api import Page

from tests.lessons import unsolved
from tests.lessons.lesson import COURSE, LESSONS, Lesson, code_cells, read
from tests.whole import MARKS

KERNEL_READY = "text=Python 3 (ipykernel) | Idle"
ALL_CELLS_DONE = r"""() => {
    const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')];
    const text = prompts.map(prompt => prompt.textContent).join();
    const kernel = document.querySelector('.jp-Notebook-ExecutionIndicator');
    return /\[\d+\]/.test(text) && !text.includes('*') && kernel.dataset.status === 'idle';
}"""
PICTURES_SHOWN = """() =>
    [...document.querySelectorAll('.jp-OutputArea img')].filter(image => image.naturalWidth > 0).length"""
COMPLETE_BAR = "100%|"
RUN_MS = 300_000
# nbval runs all solutions in `make test`: what the browser adds, one lesson shows. Another one draws panels;
# the rest is for WHOLE=yes.
ONE, *OTHERS = LESSONS
PANELS = "03_gpu_pipelining"
EACH = pytest.mark.parametrize(
    "lesson",
    [ONE, *(pytest.param(one, marks=MARKS[: 1 if one.name == PANELS else 2]) for one in OTHERS)],
    ids=[lesson.name for lesson in LESSONS],
)
POLL_MS = 500  # by default the page is searched at each frame, which takes processor time from the kernel


def open_notebook(page: Page, lab: str, kind: str, lesson: Lesson) -> None:
    server, query = lab.split("/lab/tree/")[0], lab.split("?")[1]
    page.goto(f"{server}/lab/tree/{kind}/{lesson.name}/{lesson.name}.ipynb?reset&{query}")
    page.wait_for_selector(KERNEL_READY)


def run_all(page: Page) -> None:
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.wait_for_function(ALL_CELLS_DONE, timeout=RUN_MS, polling=POLL_MS)


def keep_screenshots(page: Page, name: str) -> None:
    """Save pictures of the whole notebook, one per screen, for people to look at."""
    page.set_viewport_size({"width": 1400, "height": 3000})
    folder = COURSE / "artifacts" / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    panel = page.locator(".jp-WindowedPanel-outer")
    for number in itertools.count():
        panel.evaluate("(panel, number) => panel.scrollTo(0, number * panel.clientHeight)", number)
        page.screenshot(path=folder / f"{name}-{number:02}.jpeg", type="jpeg", quality=80)
        # JupyterLab estimates the height of cells that it has not shown yet.
        if panel.evaluate("panel => panel.scrollTop + panel.clientHeight >= panel.scrollHeight - 1"):
            break


def save(page: Page, path: Path) -> NotebookNode:
    with page.expect_response(lambda answer: answer.request.method == "PUT" and path.name in answer.url):
        page.keyboard.press("Control+s")
    return read(path)


def outputs(notebook: NotebookNode) -> list[tuple[NotebookNode, NotebookNode]]:
    return [(cell, output) for cell in code_cells(notebook) for output in cell.outputs]


def streams(notebook: NotebookNode) -> str:
    return "".join(output.text for _, output in outputs(notebook) if output.output_type == "stream")


def pictures(notebook: NotebookNode) -> int:
    return sum("image/png" in output.get("data", {}) for _, output in outputs(notebook))


@EACH
def test_all_cells_of_a_released_lesson_run(page: Page, lab: str, course: Path, lesson: Lesson):
    folder = course / "notebooks" / lesson.name
    released = unsolved.files(folder)
    open_notebook(page, lab, "notebooks", lesson)
    run_all(page)
    keep_screenshots(page, lesson.name)
    notebook = save(page, folder / lesson.release.name)
    unsolved.check(notebook)
    assert unsolved.files(folder) == released

    assert page.locator(".jp-Dialog").count() == 0
    assert page.evaluate(PICTURES_SHOWN) >= pictures(notebook) > 0
    assert COMPLETE_BAR in streams(notebook) or COMPLETE_BAR not in streams(read(lesson.solution))
    assert "IntProgress" not in streams(notebook), "a progress bar that this JupyterLab cannot draw"


@pytest.mark.proof
def test_solved_lesson_passes_validation(page: Page, lab: str):
    open_notebook(page, lab, "solutions", ONE)
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    dialog.wait_for(timeout=RUN_MS)
    assert "Success! Your notebook passes all the tests." in dialog.inner_text()

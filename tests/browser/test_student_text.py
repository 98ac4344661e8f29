"""What students wrote, in formgrader and feedback: nothing runs or loads, whatever is clicked."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import nbgrader
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import Browser, Page
from traitlets.config import Config

from grading.nbgrader_plugins import feedback_page
from grading.nbgrader_plugins.feedback_page import FeedbackExporter
from grading.nbgrader_plugins.preprocessor import write_outputs
from grading.notebook.markdown_html import safe_markdown
from tests.grading.notebook.markup_payloads import ATTACHMENTS, PAYLOADS

pytestmark = pytest.mark.proof
TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions/formgrader"
ADDRESS = "http://teacher.example/"
CLICK_EVERYTHING = """() => {
    for (const element of document.querySelectorAll('#notebook-container *, main *'))
        for (const kind of ['mouseover', 'focus', 'toggle', 'click'])
            element.dispatchEvent(new MouseEvent(kind, {bubbles: true, cancelable: true, view: window}));
}"""


def render(kind: str, sources: list[str], *cells: NotebookNode) -> str:
    config = Config()
    config.HTMLExporter.template_name = config.FeedbackExporter.template_name = kind
    for name in ("HTMLExporter", "FeedbackExporter"):
        config[name].extra_template_basedirs = [str(TEMPLATES / "templates")]
        config[name].extra_template_paths = [str(TEMPLATES / "static/node_modules/bootstrap/dist/css")]
    exporter = (FeedbackExporter if kind == "feedback" else HTMLExporter)(config=config)
    marks = {"notebook": "01_lesson", "score": 1, "max_score": 2, "late_penalty": 0}
    marks |= {"assignment": "01_lesson", "student": "ann"}
    resources = {"nbgrader": marks, "inlining": {"css": []}, "base_url": "", "index": 0, "total": 1}
    notebook = new_notebook(cells=[*(new_markdown_cell(source) for source in sources), *cells])
    with mock.patch.object(feedback_page, "course_of", return_value=COURSE):
        return exporter.from_notebook_node(notebook, resources)[0]


def no_folder(task: object) -> Path:
    raise FileNotFoundError


# Its stored results hold payloads, too.
COURSE = SimpleNamespace(
    results=SimpleNamespace(
        read=lambda task: {
            "exercises": {"x": {"message": "".join(PAYLOADS.values()), "mistake": PAYLOADS["script"]}},
            "findings": [{"kind": "damaged", "what": text} for text in PAYLOADS.values()],
            "provenance": {"environment": f"feeding-the-gpu {PAYLOADS['script']}"},
        }
    ),
    submission_folder=no_folder,
    lesson=lambda name: SimpleNamespace(released=new_notebook()),
)


@pytest.fixture
def happened(browser: Browser) -> Iterator[tuple[Page, list[str]]]:
    """A page, and the scripts and requests that it starts."""
    context = browser.new_context()
    page, events = context.new_page(), []
    page.on("dialog", lambda dialog: (events.append(f"alert({dialog.message})"), dialog.dismiss()))
    page.route("**/*", lambda route: (events.append(route.request.url), route.abort()))
    yield page, events
    context.close()


def visit(page: Page, html: str) -> None:
    page.route(ADDRESS, lambda route: route.fulfill(body=html, content_type="text/html; charset=utf-8"))
    page.goto(ADDRESS)
    page.wait_for_timeout(300)
    page.evaluate(CLICK_EVERYTHING)
    page.wait_for_timeout(300)


def is_strange(event: str) -> bool:
    """Tell what the templates load, and links that a student may set, from everything else."""
    return not event.startswith(
        (f"{ADDRESS}formgrader/static/", "https://cdnjs.cloudflare.com/", "https://example.org")
    )


@pytest.mark.parametrize("kind", ["formgrade", "feedback"])
def test_sanitised_payloads_neither_run_nor_load_anything(happened: tuple[Page, list[str]], kind: str):
    page, events = happened
    visit(page, render(kind, [safe_markdown(text, ATTACHMENTS) for text in PAYLOADS.values()]))
    assert not [event for event in events if is_strange(event)]
    assert page.url == ADDRESS
    assert page.get_by_text("[picture: x]").count() > 3, "the payloads were shown"


@pytest.mark.parametrize("kind", ["formgrade", "feedback"])
def test_code_and_outputs_of_a_student_are_only_shown(happened: tuple[Page, list[str]], kind: str):
    page, events = happened
    cells = []
    for number, (name, text) in enumerate(PAYLOADS.items()):
        notebook = new_notebook(cells=[new_code_cell(text, id=f"own-{number}")])
        exercise = {"status": "wrong", "message": f"{name}: {text}", "mistake": text}
        output = {
            "text": f"\x1b[31m{text}\x1b]8;;javascript:alert(1)\x07a",
            "error": text,
            "pictures": ["iVBORw0KGgo="],
        }
        write_outputs(notebook, {"exercises": {}, "cells": {f"own-{number}": output}})
        graded = new_code_cell(
            "check()", metadata={"nbgrader": {"grade_id": "x", "grade": True, "points": 1}}
        )
        graded.metadata.nbgrader |= {"solution": False, "score": 0}
        checked = new_notebook(cells=[graded])
        write_outputs(checked, {"exercises": {"x": exercise}, "cells": {}})
        cells += [*notebook.cells, *checked.cells]
    visit(page, render(kind, [], *cells))
    assert not [event for event in events if is_strange(event)]
    assert page.get_by_text("<script>alert(1)</script>").count() > 3


def test_policy_alone_stops_scripts_and_remote_pictures_in_feedback(happened: tuple[Page, list[str]]):
    page, events = happened
    texts = ["<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "![x](https://evil.example/x.png)"]
    visit(page, render("feedback", [*texts, "<a href='javascript:alert(1)'>a</a>"]))
    assert not [event for event in events if is_strange(event)]


@pytest.mark.parametrize("name", ["link", "script", "image that fails", "svg", "details", "remote picture"])
def test_payload_works_where_it_is_not_sanitised(happened: tuple[Page, list[str]], name: str):
    """A test of the test: the browser and the listeners see what the sanitiser prevents."""
    page, events = happened
    visit(page, render("formgrade", [PAYLOADS[name]]))
    assert [event for event in events if is_strange(event)]

"""A course on a JupyterHub, from the teacher's release to the student's feedback."""

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, FrameLocator, Locator, Page

from tests.browser.hub import PASSWORD, STUDENTS, TEACHER, Hub, as_user, missing, repository_of, running_hub
from tests.browser.test_lab import RUN_MS
from tests.lessons.lesson import COURSE, LESSONS, Lesson, graded, read, solved
from tests.whole import MARKS

# Grading, feedback and the browser have tests of their own; a Hub takes two minutes to start, use and stop.
pytestmark = MARKS
LESSON = LESSONS[0]
ANN, BOB = STUDENTS


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    if reason := missing():
        pytest.skip(reason)
    with running_hub() as hub:
        yield hub


@pytest.fixture(scope="module")
def pages(browser: Browser, hub: Hub) -> Iterator[dict[str, Page]]:
    """A page with JupyterLab for each user."""
    pages = {}
    for user in (TEACHER, *STUDENTS):
        page = browser.new_context(viewport={"width": 1500, "height": 1000}).new_page()
        page.set_default_timeout(90_000)
        page.goto(f"{hub.address}/hub/login")
        page.fill("#username_input", user)
        page.fill("#password_input", PASSWORD)
        page.click("#login_submit")
        page.wait_for_url("**/lab**")
        page.goto(f"{hub.address}/user/{user}/lab?reset")
        page.wait_for_selector("#jp-MainMenu")
        pages[user] = page
    yield pages
    for page in pages.values():
        page.context.close()


def keep_screenshot(page: Page, name: str) -> None:
    page.screenshot(path=COURSE / "artifacts" / "browser" / f"hub-{name}.png")


def nbgrader_menu(page: Page) -> list[str]:
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    items = page.locator(".lm-Menu-itemLabel").all_inner_texts()
    page.keyboard.press("Escape")
    return [item for item in items if item]


def choose(page: Page, item: str) -> None:
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    page.get_by_role("menuitem", name=item, exact=True).click()


def formgrader(page: Page) -> FrameLocator:
    if not page.locator("iframe").count():
        choose(page, "Formgrader")
    return page.frame_locator("iframe")


def row(frame: FrameLocator, name: str) -> Locator:
    return frame.locator("tr", has_text=name)


def click_and_confirm(frame: FrameLocator, button: Locator, expected: str) -> None:
    button.click()
    dialog = frame.locator(".modal.in")
    dialog.get_by_text(expected).first.wait_for(timeout=RUN_MS)
    dialog.get_by_role("button", name="OK").click()
    dialog.wait_for(state="hidden")


def solve(path: Path, lesson: Lesson) -> None:
    """Write the solutions into a fetched notebook."""
    notebook, answers = read(path), solved(read(lesson.solution))
    for name, cell in solved(notebook).items():
        cell.source = answers[name].source
    nbformat.write(notebook, path)


def test_students_have_one_kernel(pages: dict[str, Page], hub: Hub):
    found = pages[ANN].request.get(f"{hub.address}/user/{ANN}/api/kernelspecs").json()
    names = {name: spec["spec"]["display_name"] for name, spec in found["kernelspecs"].items()}
    assert names == {"python3": "Feeding the GPU"}


def test_menu_entries_depend_on_the_role(pages: dict[str, Page]):
    assert nbgrader_menu(pages[ANN]) == ["Assignment List"]
    assert "Formgrader" in nbgrader_menu(pages[TEACHER])
    assert pages[ANN].get_by_text("Create Assignment").count() == 0


def test_teacher_releases_in_the_formgrader(pages: dict[str, Page]):
    frame = formgrader(pages[TEACHER])
    line = row(frame, LESSON.name)
    click_and_confirm(frame, line.locator(".release a"), "Successfully released")
    assert line.get_by_text("released").count() == 1


def test_students_link_pulls_and_opens_the_notebooks(pages: dict[str, Page], hub: Hub):
    repository = repository_of(BOB, hub.site.source.parent)
    page = pages[BOB]
    page.goto(replace(hub.site, hub=hub.address, repository=str(repository)).link(LESSON.name))
    page.wait_for_url(f"**/lab/tree/{BOB}/notebooks/{LESSON.name}", timeout=RUN_MS)
    assert (hub.home(BOB) / BOB / "notebooks" / LESSON.name / f"{LESSON.name}.ipynb").exists()
    page.goto(f"{hub.address}/user/{BOB}/lab?reset")


@pytest.mark.parametrize("student", STUDENTS)
def test_student_fetches(pages: dict[str, Page], hub: Hub, student: str):
    page = pages[student]
    choose(page, "Assignment List")
    page.get_by_role("button", name="Fetch", exact=True).click()
    page.get_by_role("button", name="Submit", exact=True).wait_for()
    assert (hub.home(student) / LESSON.name / f"{LESSON.name}.ipynb").exists()


def test_student_solves_and_validates(pages: dict[str, Page], hub: Hub):
    solve(hub.home(ANN) / LESSON.name / f"{LESSON.name}.ipynb", LESSON)
    page = pages[ANN]
    page.goto(f"{hub.address}/user/{ANN}/lab/tree/{LESSON.name}/{LESSON.name}.ipynb?reset")
    page.wait_for_selector("text=Feeding the GPU | Idle")
    page.get_by_role("button", name="Validate").click()
    dialog = page.locator(".jp-Dialog")
    dialog.wait_for(timeout=RUN_MS)
    keep_screenshot(page, "validated")
    assert "Success! Your notebook passes all the tests." in dialog.inner_text()
    dialog.get_by_role("button").first.click()


@pytest.mark.parametrize("student", STUDENTS)
def test_student_submits(pages: dict[str, Page], hub: Hub, student: str):
    page = pages[student]
    choose(page, "Assignment List")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.locator("#submitted_assignments_list .list_item").first.wait_for()
    inbound = hub.site.root / "exchange" / "feeding-the-gpu" / "inbound"
    assert len(list(inbound.glob(f"{student}+{LESSON.name}+*"))) == 1


def test_student_cannot_read_or_change_files_of_others(hub: Hub):
    inbound = hub.site.root / "exchange" / "feeding-the-gpu" / "inbound"
    (handed_in,) = inbound.glob(f"{ANN}+*")
    forbidden = [
        f"cat {hub.home(ANN)}/{LESSON.name}/{LESSON.name}.ipynb",
        f"ls {inbound}",
        f"mv {shlex.quote(str(handed_in))} {inbound}/gone",
        f"ls {hub.site.course}",
        f"cat {hub.site.course}/gradebook.db",
        f"touch {hub.site.root}/JHS_data/new",
        f"mv {hub.site.root}/exchange/feeding-the-gpu {hub.site.root}/exchange/gone",
    ]
    for command in forbidden:
        assert as_user(BOB, command).returncode != 0, command
    assert (handed_in / f"{LESSON.name}.ipynb").exists()


def test_student_cannot_use_the_server_of_another(pages: dict[str, Page], hub: Hub):
    answer = pages[BOB].request.get(f"{hub.address}/user/{ANN}/api/contents", max_redirects=0)
    assert answer.status in (302, 403, 404)


def test_teacher_collects_and_grades_in_the_formgrader(pages: dict[str, Page]):
    frame = formgrader(pages[TEACHER])
    click_and_confirm(frame, row(frame, LESSON.name).locator(".collect a"), "Successfully collected")
    row(frame, LESSON.name).locator(".num-submissions a").click()
    for student in STUDENTS:
        click_and_confirm(frame, row(frame, student).locator(".autograde a"), "Successfully autograded")
    keep_screenshot(pages[TEACHER], "graded")
    points = sum(cell.metadata.nbgrader.points for cell in graded(read(LESSON.release)).values())
    assert f"{points:g} / {points:g}" in row(frame, ANN).inner_text()
    assert f"0 / {points:g}" in row(frame, BOB).inner_text()


def test_student_reads_the_feedback(pages: dict[str, Page], hub: Hub):
    teacher = pages[TEACHER]
    teacher.reload()
    frame = formgrader(teacher)
    line = row(frame, LESSON.name)
    click_and_confirm(frame, line.locator(".generate-feedback a"), "Successfully generated")
    click_and_confirm(frame, line.locator(".release-feedback a"), "Successfully released")
    page = pages[BOB]
    page.goto(f"{hub.address}/user/{BOB}/lab?reset")
    choose(page, "Assignment List")
    page.get_by_role("button", name="Fetch Feedback").click()
    page.get_by_text("View Feedback").first.wait_for()
    keep_screenshot(page, "feedback")
    (feedback,) = (hub.home(BOB) / LESSON.name / "feedback").rglob("*.html")
    assert "not solved yet" in feedback.read_text()

"""The top of a feedback page."""

from types import SimpleNamespace

import nbformat
import pytest

from course_utils.grading.course import Task
from course_utils.grading.nbgrader_plugins import feedback_page
from course_utils.grading.nbgrader_plugins.feedback_summary import summarise

TASK = Task("01_lesson", "ann")
GRADES = {"assignment": "01_lesson", "student": "ann", "score": 2.5, "max_score": 4.0, "late_penalty": 0.5}


def cell(name: str, score: float | None = None, comment: str = "") -> nbformat.NotebookNode:
    marks = {"grade_id": name, "schema_version": 3, "grade": score is not None, "solution": score is None}
    marks |= {"score": score, "points": 2.0} if score is not None else {"comment": comment}
    return nbformat.v4.new_code_cell("pass", metadata={"nbgrader": marks})


def heading(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_markdown_cell(text)


def notebook() -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(
        cells=[
            heading("# A lesson"),
            heading("## Exercise 1: <b>sum</b>"),
            cell("sum_answer", comment="well <done>"),
            cell("sum", 2.0),
            heading("Do it.\n\n## Exercise 2: mean"),
            cell("mean_answer", comment="No response."),
            cell("mean", 0.5),
        ]
    )


def course_with(messages: dict[str, str], findings: tuple[str, ...] = ()) -> SimpleNamespace:
    """A course that has a stored result."""
    result = {
        "exercises": {name: {"message": text, "mistake": f"no_{name}"} for name, text in messages.items()},
        "findings": [{"kind": kind, "what": f"{kind} by hand"} for kind in findings],
        "provenance": {"environment": "python 3.11 feeding-the-gpu 1.2.3 torch 2"},
    }
    return SimpleNamespace(results=SimpleNamespace(read=lambda task: result))


@pytest.fixture
def submitted(tmp_path):
    (tmp_path / "timestamp.txt").write_text("2026-11-20 10:00:59.011927 UTC\n")
    return tmp_path


def summary(course: SimpleNamespace, folder):
    course.submission_folder = lambda task: folder
    return summarise(course, TASK, notebook(), GRADES)


def test_page_begins_with_the_exercises_their_points_verdicts_and_comments(submitted):
    page = summary(course_with({"sum": "right", "mean": "Divide by the length."}), submitted)
    assert (page.title, page.points, page.max_points, page.late_penalty) == ("A lesson", "2.5", "4", "0.5")
    assert (page.version, page.submitted) == ("1.2.3", "2026-11-20 10:00 UTC")
    one, two = page.exercises
    assert (one.title, one.right, one.points, one.comments) == (
        "Exercise 1: <b>sum</b>",
        True,
        "2",
        ["well <done>"],
    )
    assert (two.title, two.right, two.points, two.comments) == ("Exercise 2: mean", False, "0.5", [])
    assert two.verdict == "Divide by the length."


def test_students_read_what_was_damaged_and_not_what_is_for_the_teacher(submitted):
    page = summary(course_with({"sum": "a", "mean": "b"}, ("damaged", "suspicious", "tampered")), submitted)
    assert page.findings == ["damaged by hand"]


def test_a_notebook_that_cannot_be_read_is_said_once(submitted):
    page = summary(course_with({"sum": "unreadable", "mean": "unreadable"}, ("damaged",)), submitted)
    assert page.findings == ["damaged by hand"]
    assert [one.verdict for one in page.exercises] == ["", ""]


def test_page_shows_texts_as_texts(submitted, monkeypatch):
    made = summary(course_with({"sum": "<i>right</i>", "mean": "other"}), submitted)
    monkeypatch.setattr(feedback_page, "summarise", lambda *_: made)
    monkeypatch.setattr(feedback_page, "course_of", lambda _: None)
    page, _ = feedback_page.FeedbackExporter().from_notebook_node(notebook(), {"nbgrader": GRADES})
    top, folded = page.split("<details>")
    for shown in ("&lt;b&gt;sum&lt;/b&gt;", "&lt;i&gt;right&lt;/i&gt;", "well &lt;done&gt;"):
        assert shown in top
    assert "<summary>" in folded

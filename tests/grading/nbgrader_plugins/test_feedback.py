"""The top of a feedback page."""

from types import SimpleNamespace

import nbformat
import pytest

from grading.course.lesson import Lesson
from grading.course.result import Task
from grading.course.titles import titles_of
from grading.nbgrader_plugins import feedback_page
from grading.nbgrader_plugins.feedback_summary import summarise
from grading.notebook.markdown_html import safe_markdown
from tests.lessons.lesson import LESSONS, graded, read

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
    return SimpleNamespace(
        results=SimpleNamespace(read=lambda task: result),
        lesson=lambda name: SimpleNamespace(released=notebook()),
    )


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


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_titles_are_those_of_the_released_lesson(submitted, lesson):
    """Grading has turned the Markdown of a submission, links and all, into HTML."""
    submission = read(lesson.release)
    for one in submission.cells:
        if one.cell_type == "markdown":
            one.source = safe_markdown(one.source, {})
    course = course_with({name: "right" for name in graded(submission)})
    course.lesson = lambda name: Lesson(lesson.solution.parent)
    course.submission_folder = lambda task: submitted
    page = summarise(course, Task(lesson.name, "ann"), submission, GRADES)
    assert page.title.startswith(f"Lesson {lesson.name[:2]}: ")
    assert [one.anchor for one in page.exercises] == list(graded(submission))
    assert [one.title.partition(":")[0] for one in page.exercises] == [
        f"Exercise {number}" for number in range(1, len(page.exercises) + 1)
    ]


def test_lines_of_code_in_the_text_are_no_titles():
    cells = [heading("# A lesson\n\n```bash\n# a comment\n```"), cell("sum", 0.0)]
    assert titles_of(nbformat.v4.new_notebook(cells=cells), "").exercises == {"sum": "A lesson"}


def test_exercise_that_the_release_lacks_has_its_name(submitted):
    course = course_with({"sum": "right"})
    course.lesson = lambda name: SimpleNamespace(released=nbformat.v4.new_notebook())
    page = summary(course, submitted)
    assert (page.title, page.exercises[0].title) == ("01_lesson", "sum")


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


def page_of(cells: list[nbformat.NotebookNode], submitted, monkeypatch) -> str:
    made = summary(course_with({"sum": "right", "mean": "other"}), submitted)
    monkeypatch.setattr(feedback_page, "summarise", lambda *_: made)
    monkeypatch.setattr(feedback_page, "course_of", lambda _: None)
    whole = nbformat.v4.new_notebook(cells=cells)
    return feedback_page.FeedbackExporter().from_notebook_node(whole, {"nbgrader": GRADES})[0]


@pytest.mark.slow
def test_code_that_takes_the_highlighter_too_long_is_plain_and_the_rest_highlighted(submitted, monkeypatch):
    slow, quick = "x = a" + ".b" * 100_000, "def quick():\n    return '<i>'"
    page = page_of([nbformat.v4.new_code_cell(one) for one in (slow, quick)], submitted, monkeypatch)
    assert slow in page  # no marks between its names
    assert '<span class="k">def</span>' in page
    assert "&lt;i&gt;" in page

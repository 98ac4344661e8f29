"""The start page counts what the saved notebooks say, whatever state they are in."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_utils.start_page.exercise_state import State
from course_utils.start_page.lesson_progress import find_lessons
from course_utils.start_page.overview import course_overview
from course_utils.train_script.log import LOG
from course_utils.train_script.measuring import Line
from tests.lessons.lesson import COURSE, LESSONS, Lesson, graded, read
from tests.start_page.lessons import (
    NAME,
    UNWRITTEN,
    WRITTEN,
    crashed,
    exercise,
    failed,
    passed,
    save_lesson,
)

RUN = Line(
    "2026-11-25T10:00:00+01:00", "node, 2 cores", "00", 66.0, 68.0, 0.74, 2.0, 22.7, 196.6, 0.41, "788375b8"
)


@pytest.mark.parametrize(
    ("source", "output", "counts", "state"),
    [
        (UNWRITTEN, None, (None, None), State.NOT_BEGUN),
        (UNWRITTEN, failed("not_written_yet"), (1, 2), State.NOT_BEGUN),
        (UNWRITTEN, crashed(), (None, 1), State.NOT_BEGUN),
        (UNWRITTEN, passed(), (1, 2), State.UNCHECKED),
        (UNWRITTEN, failed("labels_by_position"), (1, 2), State.FAILED),
        (WRITTEN, None, (3, None), State.UNCHECKED),
        (WRITTEN, failed("not_written_yet"), (1, 2), State.UNCHECKED),
        (WRITTEN, crashed(), (None, 1), State.UNCHECKED),
        (WRITTEN, failed("labels_by_position"), (1, 2), State.FAILED),
        (WRITTEN, passed(), (1, 2), State.PASSED),
        (WRITTEN, passed(), (None, None), State.PASSED),
        (WRITTEN, passed(), (9, 2), State.UNCHECKED),
    ],
)
def test_state_of_an_exercise(tmp_path: Path, source, output, counts, state: State):
    save_lesson(tmp_path, exercise("json_labels", source, output, counts))
    [found] = find_lessons(tmp_path)
    assert [one.state for one in found.exercises if one.name == "json_labels"] == [state]


def test_solved_lesson_is_passed(lesson: Lesson):
    [found] = [one for one in find_lessons(COURSE / "solutions") if one.facts.name == lesson.name]
    assert found.passed == len(found.exercises) > 0
    assert [one.name for one in found.exercises] == list(graded(read(lesson.solution)))


def test_released_lessons_are_not_begun():
    found = find_lessons(COURSE / "notebooks")
    assert [one.facts.name for one in found] == [one.name for one in LESSONS]
    assert {exercise.state for one in found for exercise in one.exercises} == {State.NOT_BEGUN}


def test_page_says_how_far_one_is_and_what_comes_next(tmp_path: Path):
    save_lesson(
        tmp_path,
        exercise("json_labels", WRITTEN, passed()),
        exercise("stored_zip", WRITTEN, failed("deflated")),
        exercise("raw_pixels", WRITTEN, passed(), (9, 2)),
    )
    page = course_overview(tmp_path, this_machine=False)._repr_markdown_()
    assert "**1 of 4 exercises passed.** Continue with [01 Many small files](<01_jpeg_vs_zip/" in page
    assert (
        "| 1 of 4 passed; not right yet: 2; run the check: 3; missing from the notebook: cold_and_warm "
        "| 90 | Python and lesson 00 |" in page
    )


def test_notebook_under_another_name_is_found(tmp_path: Path):
    path = save_lesson(tmp_path, exercise("json_labels", WRITTEN, passed()))
    path.rename(path.with_name("my answers.ipynb"))
    (path.parent / "Untitled.ipynb").write_text('{"cells": [{"source": "1 + 1"}]}')
    [found] = find_lessons(tmp_path)
    assert found.passed == 1
    assert found.path == f"{NAME}/my answers.ipynb"


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"cells": []}', '{"cells": [1]}', "\0\0", "[" * 100_000])
def test_damaged_notebook_is_reported_beside_the_others(tmp_path: Path, damage: str):
    save_lesson(tmp_path, exercise("lazy_dataset", WRITTEN, passed()), name="00_input_pipeline")
    save_lesson(tmp_path).write_text(damage)
    whole, damaged = find_lessons(tmp_path)
    assert whole.passed == 1
    assert damaged.problem.startswith("the notebook cannot be read: fetch the lesson again")
    assert "cannot be read" in repr(course_overview(tmp_path, this_machine=False))


def test_missing_notebook_is_reported(tmp_path: Path):
    (tmp_path / NAME).mkdir()
    assert find_lessons(tmp_path)[0].problem.startswith("the notebook is missing")


def test_folder_without_lessons_says_where_to_go(tmp_path: Path):
    overview = course_overview(tmp_path)
    assert "`notebooks/`" in overview._repr_markdown_()
    assert "`notebooks/`" in repr(overview)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["source", "metadata", "nbgrader", "outputs", "text"]), inner)
    ),
    max_leaves=8,
)


@given(
    cells=st.lists(st.sampled_from(["answer", "check"]) | JSON, max_size=4), value=JSON, key=st.integers(0, 5)
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_read_or_reported(tmp_path: Path, cells, value, key: int):
    parts = dict(zip(["answer", "check"], exercise("json_labels", WRITTEN, passed()), strict=True))
    made = [{**parts[cell]} if isinstance(cell, str) and cell in parts else cell for cell in cells]
    for cell in made:
        if isinstance(cell, dict) and len(cell) > key:
            cell[list(cell)[key]] = value
    save_lesson(tmp_path).write_text(json.dumps({"cells": made}))
    [found] = find_lessons(tmp_path)
    assert found.problem or found.exercises
    course_overview(tmp_path, this_machine=False)._repr_markdown_()


def test_page_shows_the_log_of_the_students_script(tmp_path: Path):
    save_lesson(tmp_path)
    assert "Lesson 00 writes `my_files/train.py`" in course_overview(tmp_path)._repr_markdown_()
    log = tmp_path / "my_files" / LOG
    log.parent.mkdir()
    log.write_text(json.dumps(asdict(RUN)) + "\n")
    assert str(RUN) in course_overview(tmp_path)._repr_markdown_()
    log.write_text(2 * (json.dumps(asdict(RUN)) + "\n"))
    assert "](data:image/svg+xml;base64," in course_overview(tmp_path)._repr_markdown_()
    log.write_text("no log\n")
    assert "move it away" in course_overview(tmp_path)._repr_markdown_()

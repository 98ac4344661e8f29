"""The report of students who share an answer, with right answers of the bank as a class."""

import pytest

from grading.answers.bank import answers
from grading.course.lesson import Lesson
from grading.scoring import similar_answers
from tests.grading.scoring.single_answer import LESSON_OF
from tests.grading.toy_course import cell_of

RENAMED = {"handles": "opened", "folder": "place", "names": "keys", "self.labels": "self.truth"}
MODULE = "multi_worker_handles"


@pytest.fixture(scope="module")
def handles() -> Lesson:
    return Lesson(LESSON_OF[MODULE])


def class_of(exercise: str) -> dict[str, str]:
    """One student for each right answer of the bank."""
    bank = [one for one in answers(MODULE) if one.check == exercise and not one.mistake]
    return {one.name: one.source for one in bank}


def report(lesson: Lesson, exercise: str, sources: dict[str, str], student: str = "") -> str:
    metadata = {"nbgrader": {"grade_id": f"{exercise}_answer"}}
    results = [
        {"student": name, "notebook": {"cells": [{"source": source, "metadata": metadata}]}}
        for name, source in sources.items()
    ]
    return similar_answers.report_of(lesson, [*results, {"student": "lost", "notebook": {}}], student)


def changed(source: str) -> str:
    """A copy with other names, layout and comments."""
    for old, new in RENAMED.items():
        source = source.replace(old, new)
    return source.replace("\n", "  # mine\n")


def test_a_copy_is_found_whatever_its_names_and_layout_and_shown_side_by_side(handles):
    sources = class_of("million_labels")
    original = sources.pop("right_packed_bytes")
    found = report(handles, "million_labels", {"ann": original, "bob": changed(original), **sources})
    assert found.startswith("million_labels: ann, bob (")
    assert any("[ann]" in line and "[bob]" in line for line in found.splitlines())
    assert found.count("million_labels: ") == 1
    assert report(handles, "million_labels", {"ann": original, **sources}) == ""
    assert report(handles, "million_labels", {"ann": original, "bob": original, **sources}, "cem") == ""


def test_untouched_cells_and_what_all_write_are_no_copies(handles):
    stub = cell_of(handles.released, "million_labels_answer").source
    same = class_of("million_labels")["right_packed_bytes"]
    assert report(handles, "million_labels", {f"student{n}": stub for n in range(2)}) == ""
    assert report(handles, "million_labels", {f"student{n}": same for n in range(9)}) == ""


@pytest.mark.parametrize(
    "text", ["", "\x1b[31m", '"""' * 9999, "(" * 50_000, "\\" * 50_000, "\ud800", "'" + "a\\" * 20_000]
)
def test_any_text_can_be_compared(handles, text):
    assert "\x1b" not in report(handles, "million_labels", {"ann": text, "bob": text})

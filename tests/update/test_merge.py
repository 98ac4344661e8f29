"""The merge of notebooks by their cells: a new version of the course with all that a student wrote."""

from hypothesis import given
from hypothesis import strategies as st

from course_utils.update.merge import merge_notebooks


def cell(name: str, source: str, kind: str = "code", **metadata) -> dict:
    made = {"cell_type": kind, "id": name, "metadata": metadata, "source": source}
    return made | ({"outputs": [], "execution_count": None} if kind == "code" else {})


def answer(name: str, source: str) -> dict:
    return cell(name, source, nbgrader={"grade_id": name, "solution": True})


def notebook(*cells: dict) -> dict:
    return {"cells": list(cells), "metadata": {"version": 1}, "nbformat": 4, "nbformat_minor": 5}


def sources(merged: dict) -> list[str]:
    return ["".join(one["source"]) for one in merged["cells"]]


def test_new_text_and_new_cells_arrive_and_answers_stay():
    base = notebook(cell("a", "text"), answer("b", "# YOUR CODE HERE"))
    mine = notebook(cell("a", "text"), answer("b", "x = 1"))
    theirs = notebook(cell("a", "better text"), cell("new", "more"), answer("b", "# YOUR CODE HERE"))
    assert sources(merge_notebooks(base, mine, theirs)) == ["better text", "more", "x = 1"]


def test_results_stay_where_the_cell_is_the_same():
    ran = cell("a", "1 + 1") | {"outputs": [{"output_type": "stream"}], "execution_count": 3}
    merged = merge_notebooks(
        notebook(cell("a", "1 + 1")), notebook(ran), notebook(cell("a", "1 + 1", tags=["t"]))
    )
    assert merged["cells"] == [ran | {"metadata": {"tags": ["t"]}}]


def test_results_of_an_older_text_are_dropped():
    ran = cell("a", "1 + 1") | {"outputs": [{"output_type": "stream"}]}
    merged = merge_notebooks(notebook(cell("a", "1 + 1")), notebook(ran), notebook(cell("a", "2 + 2")))
    assert merged["cells"] == [cell("a", "2 + 2")]


def test_an_answer_whose_beginning_changed_stays_and_the_new_beginning_stands_in_a_note():
    base, mine = notebook(answer("b", "def f(): ...")), notebook(answer("b", "def f(): return 1"))
    merged = merge_notebooks(base, mine, notebook(answer("b", "def f(x): ...")))
    kept, note = merged["cells"]
    assert kept["source"] == "def f(): return 1"
    assert note["cell_type"] == "markdown"
    assert "```python\ndef f(x): ...\n```" in note["source"]


def test_a_demonstration_that_both_changed_is_the_new_one_and_the_students_stands_in_a_note():
    base, mine = notebook(cell("a", "n = 1")), notebook(cell("a", "n = 1000"))
    merged = merge_notebooks(base, mine, notebook(cell("a", "n = 2")))
    assert merged["cells"][0] == cell("a", "n = 2")
    assert "n = 1000" in merged["cells"][1]["source"]


def test_own_cells_stay_behind_the_cell_they_followed():
    base = notebook(cell("a", "1"), cell("b", "2"))
    mine = notebook(cell("top", "mine 0"), cell("a", "1"), cell("own", "mine 1"), cell("b", "2"))
    theirs = notebook(cell("new", "0"), cell("a", "1"), cell("b", "2"))
    assert sources(merge_notebooks(base, mine, theirs)) == ["mine 0", "0", "1", "mine 1", "2"]


def test_an_answer_to_a_removed_exercise_stays_as_a_cell_of_ones_own():
    base, mine = notebook(cell("a", "1"), answer("b", "")), notebook(cell("a", "1"), answer("b", "my work"))
    merged = merge_notebooks(base, mine, notebook(cell("a", "1")))
    assert sources(merged) == ["1", "my work"]
    assert "nbgrader" not in merged["cells"][1]["metadata"]


def test_a_copied_answer_cell_does_not_become_a_second_exercise():
    base = notebook(answer("b", ""))
    mine = notebook(answer("b", "first"), answer("b", "second"))
    merged = merge_notebooks(base, mine, base)
    assert sources(merged) == ["first", "second"]
    assert len({one["id"] for one in merged["cells"]}) == 2
    assert "nbgrader" not in merged["cells"][1]["metadata"]


def test_a_deleted_cell_of_the_lesson_comes_back():
    base = notebook(cell("a", "1"), cell("b", "2"))
    assert sources(merge_notebooks(base, notebook(cell("b", "2")), base)) == ["1", "2"]


def test_cells_without_ids_are_recognised_by_their_text():
    base = notebook(cell("a", "1"), answer("b", ""))
    mine = notebook(cell("a", "1"), answer("b", "mine"))
    for one in mine["cells"]:
        del one["id"]
    assert sources(merge_notebooks(base, mine, base)) == ["1", "mine"]


names = st.sampled_from(["a", "b", "c", "d"])
texts = st.sampled_from(["", "x = 1", "y = 2\nz = 3", "# ```"])
cells = st.builds(lambda make, name, text: make(name, text), st.sampled_from([cell, answer]), names, texts)
lessons = st.lists(cells, max_size=4, unique_by=lambda one: one["id"]).map(lambda found: notebook(*found))
own = st.lists(st.builds(lambda n, text: cell(f"own-{n}", text), st.integers(0, 9), texts), max_size=3)


@st.composite
def versions(draw):
    """A lesson, what a student made of it, and its new version."""
    base, theirs = draw(lessons), draw(lessons)
    mine = [one | {"source": draw(texts)} if draw(st.booleans()) else one for one in base["cells"]]
    mine = [one for one in draw(st.permutations(mine + draw(own))) if draw(st.integers(0, 5))]
    return base, notebook(*mine), theirs


@given(versions())
def test_no_text_of_a_student_is_lost(three):
    base, mine, theirs = three
    merged = merge_notebooks(base, mine, theirs)
    text = "\n".join(sources(merged))
    released = {(one["id"], one["source"]) for one in base["cells"]}
    for one in mine["cells"]:
        assert (one["id"], one["source"]) in released or one["source"] in text


@given(versions())
def test_every_cell_of_the_new_version_is_there_in_its_order(three):
    _, _, theirs = three
    merged = merge_notebooks(*three)
    ids = [one["id"] for one in merged["cells"]]
    assert len(set(ids)) == len(ids)
    graded = [
        one["metadata"]["nbgrader"]["grade_id"] for one in merged["cells"] if "nbgrader" in one["metadata"]
    ]
    assert graded == [one["id"] for one in theirs["cells"] if "nbgrader" in one["metadata"]]


@given(lessons, lessons)
def test_untouched_work_becomes_the_new_version(base, theirs):
    assert merge_notebooks(base, base, theirs) == theirs


@given(versions())
def test_a_second_update_to_the_same_version_changes_nothing(three):
    _, _, theirs = three
    once = merge_notebooks(*three)
    assert sources(merge_notebooks(theirs, once, theirs)) == sources(once)

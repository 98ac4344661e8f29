"""Each lesson and each check has the same name everywhere."""

from collections import Counter

import pytest

from course_utils.start_page import MORE
from grading.answers.bank import answers
from tests.lessons.lesson import COURSE, LESSONS, OPTIONAL, Lesson, asked, graded, read, solved


def names(folder: str, pattern: str) -> set[str]:
    return {path.stem for path in (COURSE / folder).glob(pattern)}


def test_only_notebook_of_a_lesson_has_its_name(lesson: Lesson):
    assert [path.name for path in lesson.solution.parent.glob("*.ipynb")] == [f"{lesson.name}.ipynb"]


def test_only_lessons_are_released():
    assert names("notebooks", "*/") == {MORE, *(lesson.name for lesson in LESSONS)}
    assert names(f"solutions/{MORE}", "*.ipynb") <= {lesson.name for lesson in LESSONS}


def test_every_lesson_and_bank_of_answers_has_tested_checks():
    modules = names("grading/answers", "*/") | {lesson.module_name for lesson in LESSONS}
    assert modules <= names("course_utils/checks", "*/")
    assert {f"test_{name}" for name in modules} <= names("tests/checks", "test_*.py")


def test_every_check_is_asked_in_the_lesson_or_in_its_optional_notebook(lesson: Lesson):
    optional = [asked(read(one.solution)) for one in OPTIONAL if one.name == lesson.name]
    in_lesson = asked(read(lesson.solution))
    assert set(graded(read(lesson.solution))) == in_lesson
    assert sorted([*in_lesson, *(name for names in optional for name in names)]) == sorted(lesson.checks())


@pytest.mark.parametrize("optional", OPTIONAL, ids=lambda lesson: lesson.name)
def test_optional_notebook_has_checks_without_points(optional: Lesson):
    notebook = read(optional.solution)
    assert not graded(notebook)
    calls = {cell.source for cell in notebook.cells if "raises-exception" in cell.metadata.get("tags", [])}
    for name in asked(notebook):
        assert [call for call in calls if call.startswith(f"{optional.module_name}.{name}(")]


def test_graded_cell_only_calls_its_check(lesson: Lesson):
    for name, cell in graded(read(lesson.solution)).items():
        assert cell.source.startswith(f"{lesson.module_name}.{name}(")
        assert len(cell.source.splitlines()) == 1
        assert cell.metadata.nbgrader.locked
        assert cell.metadata.nbgrader.points > 0


def test_run_all_continues_after_a_failed_graded_cell(lesson: Lesson):
    for name, cell in graded(read(lesson.solution)).items():
        assert "raises-exception" in cell.metadata.get("tags", []), f"JupyterLab stops at {name}: add the tag"


def test_every_check_has_an_answer_cell_above_it(lesson: Lesson):
    notebook = read(lesson.solution)
    assert set(solved(notebook)) == {f"{name}_answer" for name in graded(notebook)}
    order = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata]
    for name in graded(notebook):
        assert order.index(f"{name}_answer") < order.index(name)


def test_every_check_has_enough_right_and_wrong_answers(lesson: Lesson):
    rights = Counter(answer.check for answer in answers(lesson.module_name) if not answer.mistake)
    wrongs = Counter(answer.check for answer in answers(lesson.module_name) if answer.mistake)
    assert set(rights) == set(wrongs) == set(lesson.checks())
    assert min(rights.values()) >= 4
    assert min(wrongs.values()) >= 6


def test_readme_links_every_lesson(lesson: Lesson):
    assert f"(notebooks/{lesson.name}/{lesson.name}.ipynb)" in (COURSE / "README.md").read_text()

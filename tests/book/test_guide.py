"""What teachers say and show names cells, exercises and mistakes that are there."""

import re

import pytest
from nbformat import NotebookNode

from book.teachers.guide import GUIDES, Guide, read_guide
from book.teachers.lesson_parts import exercises
from book.teachers.shown_cells import shown_cell
from book.teachers.stumbles import wrong_answers
from book.teachers.teacher_book import PAGES
from tests.lessons.lesson import LESSONS, OPTIONAL, Lesson, graded, read, solved

SAID_OF = 3  # mistakes of each exercise, the most frequent of the bank


@pytest.fixture
def guide(lesson: Lesson) -> Guide:
    found = read_guide(lesson.name)
    assert found
    return found


def test_guides_belong_to_lessons():
    assert {path.stem for path in GUIDES.iterdir()} == {lesson.name for lesson in LESSONS}


def test_guide_has_every_part(guide: Guide, lesson: Lesson):
    assert guide.opening
    assert len(guide.show) >= 5
    assert len(guide.asked) >= 5
    assert set(guide.exercises) == set(graded(read(lesson.solution)))
    assert all(one.stop and one.quick for one in guide.exercises.values())


def test_each_shown_cell_shows_something(guide: Guide, lesson: Lesson):
    solution = read(lesson.solution)
    assert not {one.cell for one in guide.show} & {cell.id for cell in hidden_cells(solution)}
    for one in guide.show:
        assert "It prints" in (page := shown_cell(solution, one.cell, one.say)) or "<img" in page
        assert page.startswith("### In ")


def hidden_cells(solution: NotebookNode) -> list[NotebookNode]:
    """Cells that students get without their content."""
    return [*graded(solution).values(), *solved(solution).values()]


def test_missing_cell_is_named(lesson: Lesson):
    with pytest.raises(ValueError, match="no cell nowhere"):
        shown_cell(read(lesson.solution), "nowhere", "")


def test_each_mistake_with_a_hint_is_in_the_bank(guide: Guide, lesson: Lesson):
    bank = wrong_answers(lesson.module_name)
    unknown = {name: set(one.say) - set(bank[name]) for name, one in guide.exercises.items()}
    assert not {name: mistakes for name, mistakes in unknown.items() if mistakes}


def test_the_most_frequent_mistakes_have_a_hint(guide: Guide, lesson: Lesson):
    missing = []
    for exercise, found in wrong_answers(lesson.module_name).items():
        frequent = sorted(found, key=lambda mistake: -len(found[mistake]))[:SAID_OF]
        said = guide.exercises[exercise].say if exercise in guide.exercises else frequent  # an optional one
        missing += [name for name in frequent if name not in said]
    assert not missing


def test_hints_give_no_line_of_a_solution_away(guide: Guide, lesson: Lesson):
    """They are said aloud to one student, and the others listen."""
    for exercise in exercises(read(lesson.solution)):
        lines = [line.strip() for line in exercise.solution.splitlines() if len(line.strip()) > 25]
        said = " ".join(guide.exercises[exercise.name].say.values())
        assert not [line for line in lines if line in said]


NUMBERED = re.compile(
    r"\b(section|exercise|part)s? (\d(?:(?:,| and| to| or) \d)*)(?! of lesson)", re.IGNORECASE
)


def headings(notebook: NotebookNode) -> list[str]:
    """The titles of sections and exercises."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return [line.lstrip("# ") for text in texts for line in text.splitlines() if line.startswith("##")]


def test_sections_and_exercises_that_teachers_are_sent_to_are_there(lesson: Lesson):
    page, guide = PAGES / f"{lesson.name}.md", GUIDES / f"{lesson.name}.toml"
    notebooks = [one for one in (lesson, *OPTIONAL) if one.name == lesson.name]
    titles = [title for one in notebooks for title in headings(read(one.solution))]
    begins = {"section": r"\d+\.", "exercise": r"Exercise \d+:"}
    there = {what: sum(bool(re.match(begin, title)) for title in titles) for what, begin in begins.items()}
    for text in (page.read_text(), guide.read_text()):
        for what, listed in NUMBERED.findall(text):
            assert max(map(int, re.findall(r"\d", listed))) <= there.get(what.lower(), 0), f"{what} {listed}"
    plain = {re.sub(r"^(\d+\.|Exercise \d+:|Exercise:) ", "", title).lower() for title in titles}
    named = re.findall(r"\*([A-Z][^*`]+)\*", " ".join(page.read_text().split()))
    assert {title.lower() for title in named} <= plain

"""A lesson is as long as it announces: words, cells, names, and minutes by a model of a reader."""

import ast
import math
import re

import pytest

from book.lesson_pages import LessonPage
from book.teachers.guide import read_guide
from book.teachers.lesson_parts import exercises
from course_utils.quiz.questions import questions_of
from tests.lessons.lesson import COURSE, LESSONS, Lesson, code_cells, read

WORDS, CELLS, NAMES, LINES = 3_000, 32, 12, 25
HELPERS = 5  # whose code no page has shown, and that no earlier lesson has introduced
CORE = ("00", "01", "02", "03", "06")
# What every lesson has: the style of plots, the data, the quiz, the student's own script.
FURNITURE = {"use_course_style", "data_dir", "quiz", "train_script"}
STATEMENT = 150  # words of an exercise, without its table
WORDS_PER_MINUTE, LINES_PER_MINUTE, MINUTES_PER_CELL, MINUTES_PER_QUESTION = 150, 40, 0.6, 2
# Editing `train.py` by hand and running it, by the clock of two readers (the text ends it after seven minutes
# in 01 and 02, ten in 03; 00, 04 and 05 give the lines); in 06, writing the page; in 07, reading.
MINUTES_IN_TRAIN = {"00": 5, "01": 7, "02": 8, "03": 10, "04": 4, "05": 4, "06": 8, "07": 2}
_SOLUTION = re.compile(r"^ *### BEGIN SOLUTION\n.*?^ *### END SOLUTION$", re.DOTALL | re.MULTILINE)


def words(lesson: Lesson) -> int:
    texts = [cell.source for cell in read(lesson.release).cells if cell.cell_type == "markdown"]
    return sum(len(text.split()) for text in texts)


def lines(lesson: Lesson) -> list[int]:
    """The lines of each code cell that a student reads: what they write is in the minutes of the exercise."""
    sources = [_SOLUTION.sub("", cell.source) for cell in code_cells(read(lesson.solution))]
    return [len([line for line in source.splitlines() if line.strip()]) for source in sources]


def imported(lesson: Lesson) -> set[str]:
    cells = [cell.source for cell in code_cells(read(lesson.solution)) if cell.source[:1] not in "%!"]
    source = "\n".join(
        line for cell in cells for line in cell.splitlines() if line.lstrip()[:1] not in list("%!")
    )
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return {
        name.name for node in found if (node.module or "").startswith("course_utils") for name in node.names
    }


def defined(lesson: Lesson) -> set[str]:
    source = "\n".join(cell.source for cell in code_cells(read(lesson.solution)))
    return set(re.findall(r"^(?:class|def) (\w+)", source, re.MULTILINE))


def new_helpers(lesson: Lesson) -> set[str]:
    """The names of the course that a student meets here for the first time, without seeing their code."""
    known = {name for one in LESSONS if one.name < lesson.name for name in imported(one) | defined(one)}
    return imported(lesson) - defined(lesson) - known - FURNITURE - {lesson.name[3:]}


def minutes(lesson: Lesson) -> float:
    guide = read_guide(lesson.name)
    assert guide
    exercises = sum(one.minutes for one in guide.exercises.values())
    reading = words(lesson) / WORDS_PER_MINUTE + sum(lines(lesson)) / LINES_PER_MINUTE
    return (
        reading
        + MINUTES_PER_CELL * len(lines(lesson))
        + MINUTES_PER_QUESTION * len(questions_of(lesson.name[:2]))
        + MINUTES_IN_TRAIN.get(lesson.name[:2], 0)
        + exercises
    )


def test_lesson_keeps_its_budget(lesson: Lesson):
    assert words(lesson) <= WORDS, f"{words(lesson)} words: take out as many as you add"
    assert len(lines(lesson)) <= CELLS, f"{len(lines(lesson))} code cells: take out as many as you add"
    assert max(lines(lesson)) <= LINES, f"a code cell has {max(lines(lesson))} lines"
    assert len(imported(lesson)) <= NAMES, imported(lesson)


@pytest.mark.parametrize("number", CORE)
def test_core_lesson_hides_little_code(number: str):
    lesson = next(one for one in LESSONS if one.name.startswith(number))
    assert len(new_helpers(lesson)) <= HELPERS, new_helpers(lesson)


def test_statements_are_short(lesson: Lesson):
    texts = {
        one.name: re.sub(r"^\|.*$", "", one.statement, flags=re.MULTILINE)
        for one in exercises(read(lesson.solution))
    }
    assert not {name: len(text.split()) for name, text in texts.items() if len(text.split()) > STATEMENT}


def test_announced_minutes_are_true(lesson: Lesson):
    announced = int(LessonPage(COURSE, lesson.name).minutes)
    remedy = "raise **Time** and the table of the first cell, then `make release`"
    assert minutes(lesson) <= announced, f"the model counts {math.ceil(minutes(lesson))} minutes: {remedy}"


def test_lesson_ends_with_a_quiz_of_two_or_three_questions(lesson: Lesson):
    [cell] = [cell for cell in code_cells(read(lesson.solution)) if cell.source.startswith("quiz.check(")]
    number, *choices = ast.literal_eval(f"({cell.source.removeprefix('quiz.check(')}")
    assert number == lesson.name[:2]
    assert len(choices) == len(questions_of(number)) in (2, 3)
    assert set(choices) == {"?"}, "the solution is shown to students, too"


def test_questions_have_letters_from_a_to_c(lesson: Lesson):
    for question in questions_of(lesson.name[:2]):
        assert sorted([question.right, *question.hints]) == ["a", "b", "c"]

"""What teachers' pages take from a lesson is complete."""

import re

from book.lesson_pages import LessonPage
from book.teachers.lesson_page import written
from book.teachers.lesson_parts import exercises, needs, questions
from book.teachers.slides import lesson_slides
from tests.lessons.lesson import COURSE, Lesson, graded, read


def test_every_question_has_its_answer(lesson: Lesson):
    asked = sum(str(cell.source).count("**Question.**") for cell in read(lesson.release).cells)
    found = list(questions(read(lesson.release)))
    assert len(found) == asked
    assert all(question.text and question.answer for question in found)
    assert len({question.answer for question in found}) == asked
    assert not [question for question in found if "Write down" in question.text]
    headings = "\n".join(str(cell.source) for cell in read(lesson.release).cells)
    assert not [question for question in found if f"# {question.section}\n" not in headings]


def test_opening_says_what_the_lesson_needs(lesson: Lesson):
    found = needs(read(lesson.release))
    assert len(found) > 20
    assert "**" not in found
    assert "|" not in found


def test_slides_begin_with_what_one_will_learn(lesson: Lesson):
    slides = lesson_slides(LessonPage(COURSE, lesson.name))
    second = slides.partition('id="slide-2"')[2].partition("</section>")[0]
    assert 3 <= second.count("<li>") <= 8


def test_every_exercise_has_a_model_answer(lesson: Lesson):
    found = list(exercises(read(lesson.solution)))
    assert {exercise.name for exercise in found} == set(graded(read(lesson.solution)))
    assert all("xercise" in exercise.title for exercise in found)
    assert all(exercise.points > 0 and len(exercise.statement) > 200 for exercise in found)
    assert not [exercise for exercise in found if exercise.statement.startswith("#")]
    assert not [exercise for exercise in found if "SOLUTION" in exercise.solution]


def test_what_no_cell_says_is_written_for_each_lesson(lesson: Lesson):
    parts = written(lesson.name)
    assert set(parts) == {"What it is for", "On the cluster", "In half the time"}
    assert all(parts.values())


def test_slides_show_each_section_figure_and_question(lesson: Lesson):
    slides = lesson_slides(LessonPage(COURSE, lesson.name))
    figures = sum(
        "image/png" in output.get("data", {})
        for cell in read(lesson.solution).cells
        for output in cell.get("outputs", [])
    )
    assert slides.count("<figure>") == figures
    assert slides.count("<h2>Question</h2>") == len(list(questions(read(lesson.release))))
    assert not re.findall(r'(?:src|href)="(?!data:|https?://)', slides)

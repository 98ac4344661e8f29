"""What teachers' pages take from a lesson is complete."""

import re

from book.lesson_pages import LessonPage
from book.teachers.lesson_parts import exercises, minutes_table, questions
from book.teachers.slides import lesson_slides
from book.teachers.teacher_book import PAGES
from tests.lessons.lesson import COURSE, LESSONS, Lesson, graded, read


def test_every_question_has_its_answer(lesson: Lesson):
    asked = sum(str(cell.source).count("**Question.**") for cell in read(lesson.release).cells)
    found = list(questions(read(lesson.release)))
    assert len(found) == asked > 0
    assert all(question.text and question.answer for question in found)
    assert len({question.answer for question in found}) == asked
    assert not [question for question in found if "Write down" in question.text]


def test_minutes_stand_in_a_table(lesson: Lesson):
    rows = minutes_table(read(lesson.release)).splitlines()
    minutes = [int(number) for row in rows for number in re.findall(r"\| (\d+) \|$", row)]
    total = int(LessonPage(COURSE, lesson.name).minutes)
    assert abs(sum(minutes) - total) <= 15


def test_every_exercise_has_a_model_answer(lesson: Lesson):
    found = list(exercises(read(lesson.solution)))
    assert {exercise.name for exercise in found} == set(graded(read(lesson.solution)))
    assert all("xercise" in exercise.title for exercise in found)
    assert not [exercise for exercise in found if "SOLUTION" in exercise.solution]


def test_pages_for_teachers_belong_to_lessons():
    written = {path.stem for path in PAGES.glob("*.md")} - {"index", "timetable"}
    assert written <= {lesson.name for lesson in LESSONS}


def test_slides_show_each_section_figure_and_question(lesson: Lesson):
    slides = lesson_slides(LessonPage(COURSE, lesson.name))
    figures = sum(
        "image/png" in output.get("data", {})
        for cell in read(lesson.solution).cells
        for output in cell.get("outputs", [])
    )
    assert slides.count("<figure>") == figures
    assert slides.count("<h2>Question</h2>") == len(list(questions(read(lesson.release))))
    assert not re.findall(r'(?:src|href)="(?!data:|https://)', slides)

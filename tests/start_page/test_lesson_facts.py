"""What each lesson says of itself can be read, and the map follows from it."""

import pytest

from course_utils.start_page.course_map import direct_needs, map_of_lessons
from course_utils.start_page.lesson_facts import LessonFacts, read_facts
from tests.lessons.lesson import LESSONS, Lesson, read


def facts(lesson: Lesson) -> LessonFacts:
    return read_facts(lesson.name, read(lesson.solution).cells[0].source)


def test_every_lesson_says_title_minutes_and_needs(lesson: Lesson):
    found = facts(lesson)
    assert found.title.startswith(f"{lesson.name[:2]} ")
    assert 30 <= int(found.minutes) <= 240
    assert len(found.needs) > 20
    assert found == read_facts(lesson.name, read(lesson.release).cells[0].source)  # with links to terms
    assert set(found.needed_lessons) <= {one.name[:2] for one in LESSONS if one.name < lesson.name}


def test_every_lesson_but_the_first_builds_on_another_one():
    present = {one.number: one for one in map(facts, LESSONS)}
    needs = {number: direct_needs(one, present) for number, one in present.items()}
    assert needs.pop(LESSONS[0].name[:2]) == []
    assert all(needs.values())


def test_map_leaves_out_what_another_need_implies():
    present = [
        LessonFacts("00_a", "00 A"),
        LessonFacts("01_b", "01 B", needed_lessons=("00", "77")),
        LessonFacts("02_c", "02 C", needed_lessons=("00", "01")),
    ]
    drawn = map_of_lessons(present)
    assert [line for line in drawn.splitlines() if "-->" in line] == ["L00 --> L01", "L01 --> L02"]
    assert "accDescr: Lesson 01 builds on 00. Lesson 02 builds on 01." in drawn


def test_title_that_a_student_wrote_stays_within_its_box():
    assert 'L00["00 a--b"]' in map_of_lessons([LessonFacts("00_a", '00 a"]\n-->b')])


@pytest.mark.parametrize("text", ["", "#", "# ", "Lesson", "\n# Later", "# Lesson 00: \n"])
def test_cell_without_a_title_gives_the_name_of_the_folder(text: str):
    assert read_facts("00_input_pipeline", text).title == "00_input_pipeline"

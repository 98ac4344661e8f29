"""The minutes of lessons, of half the time and of the timetable add up."""

import re
from collections import defaultdict
from itertools import chain

from book.lesson_pages import LessonPage
from book.teachers import minutes
from book.teachers.guide import read_guide
from book.teachers.timetable import Slot, lengths, lesson_minutes, read_timetable, with_days
from tests.lessons.lesson import COURSE, LESSONS, Lesson, graded, read

ELECTIVES = ("04", "05", "07")
ROUNDING = 5  # minutes: a lesson says "about"


def test_sections_add_up_to_what_the_lesson_says(lesson: Lesson):
    found = minutes.sections(read(lesson.release))
    assert abs(sum(one.minutes for one in found) - int(LessonPage(COURSE, lesson.name).minutes)) <= ROUNDING
    assert len([one for one in found if one.is_break]) == 1


def test_exercises_take_no_longer_than_their_section(lesson: Lesson):
    guide = read_guide(lesson.name)
    assert guide
    left = dict(enumerate(guide.exercises.values(), start=1))
    for section in minutes.work(minutes.sections(read(lesson.release))):
        numbers = re.findall(r"\d+", section.title.lower().partition("exercise")[2])
        assert sum(left.pop(int(number)).minutes for number in numbers) <= section.minutes
    assert not left


def test_half_the_time_is_half_the_time(lesson: Lesson):
    guide, found = read_guide(lesson.name), minutes.work(minutes.sections(read(lesson.release)))
    assert guide
    assert all(short <= one.minutes for one, short in zip(found, guide.half_time, strict=True))
    assert abs(sum(guide.half_time) - sum(one.minutes for one in found) / 2) <= ROUNDING, (
        "half_time of the guide adds up to half of the minutes"
    )


def test_three_hours_hold_the_lesson_with_opening_break_and_closing(lesson: Lesson):
    found = minutes.sections(read(lesson.release))
    *starts, end = minutes.begins(found)
    assert starts == sorted(starts)
    assert starts[0] == minutes.OPENING
    assert end <= minutes.SLOT - minutes.CLOSING


def test_plan_is_a_table_with_a_line_for_each_section():
    found = [minutes.Section("One", 60), minutes.Section("*a break*", 0, True), minutes.Section("Two", 30)]
    assert list(minutes.begins(found)) == [10, 100, 115, 160]
    lines = minutes.plan(found, (20, 0)).splitlines()
    assert lines[3:6] == [
        "| One | 60 | 0:10 | 20 |",
        "| *a break* |  | 1:40 |  |",
        "| Two | 30 | 1:55 | leave out |",
    ]
    assert lines[-1] == "| **in all** | **90** | **2:50** | **20** |"


def test_every_slot_of_the_timetable_is_long_enough():
    for slots in read_timetable().values():
        *planned, last = zip(slots, lengths(slots), strict=True)
        assert last[1] == 0
        assert all(length > 0 for _, length in planned)
        short = [slot for slot, length in planned if lesson_minutes(COURSE, slot) > length]
        assert not short, "timetable.toml: lengthen the slot, or name the exercise in its `without`"


def test_two_days_hold_every_section_of_the_core():
    planned = defaultdict(list)
    for slot in chain(*(read_timetable()[day] for day in ("First day", "Second day"))):
        if slot.lesson:
            planned[slot.lesson] += range(slot.sections[0], slot.sections[1] + 1)
    for lesson in LESSONS:
        if lesson.name[:2] in ELECTIVES:
            continue
        found = minutes.work(minutes.sections(read(lesson.release)))
        assert planned[lesson.name] == list(range(1, len(found) + 1))


def test_left_out_exercises_shorten_a_slot():
    slot = Slot("9:00", "", lesson="02_multi_worker_handles", sections=(4, 4))
    shorter = slot._replace(without=("survives_spawn",))
    assert lesson_minutes(COURSE, slot) - lesson_minutes(COURSE, shorter) == 8


def test_tables_stand_in_the_place_of_their_days():
    page = with_days(COURSE, "{{First day}}")
    assert page.count("\n") == len(read_timetable()["First day"]) + 1
    assert "{{" not in page


def test_points_follow_the_minutes(lesson: Lesson):
    """A point for each three minutes, and two for the shortest exercises."""
    guide, cells = read_guide(lesson.name), graded(read(lesson.release))
    assert guide
    points = {name: cell.metadata.nbgrader.points for name, cell in cells.items()}
    assert points == {name: max(2, round(one.minutes / 3)) for name, one in guide.exercises.items()}

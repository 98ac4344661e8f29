"""Each released lesson links to the lessons around it and to the start page, at its top and at its end."""

import re

from course_utils.start_page import ALL_LESSONS, INDEX, MORE, links_of, without_links
from grading.links.preprocessors import facts_of_all
from tests.lessons.lesson import COURSE, LESSONS, OPTIONAL, Lesson, read

NAMES = [one.name for one in LESSONS]
ANY_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
LINK = re.compile(r"\]\((\.\./[^)]+)\)")


def test_released_lesson_links_to_its_neighbours_and_the_start_page(lesson: Lesson):
    texts = [cell.source for cell in read(lesson.release).cells if cell.cell_type == "markdown"]
    place = NAMES.index(lesson.name)
    around = NAMES[max(0, place - 1) : place] + NAMES[place + 1 : place + 2]
    has_more = lesson.name in {one.name for one in OPTIONAL}
    more = [f"../{MORE}/{lesson.name}.ipynb"] if has_more else []
    wanted = [f"../{INDEX}", *(f"../{name}/{name}.ipynb" for name in around), *more]
    top, end = texts[0].split("\n\n")[1], texts[-1].split("\n\n")[-1]
    assert LINK.findall(top) == LINK.findall(end) == wanted
    assert top == end == links_of(lesson.name, facts_of_all(COURSE / "solutions"), has_more)
    assert sum(ALL_LESSONS in text for text in texts) == 2


def test_solution_has_no_links_that_only_a_release_can_follow(lesson: Lesson):
    assert f"../{INDEX}" not in lesson.solution.read_text()


def test_text_without_links_is_that_of_the_solution(lesson: Lesson):
    texts = [cell.source for cell in read(lesson.release).cells if cell.cell_type == "markdown"]
    first = read(lesson.solution).cells[0].source
    assert ANY_LINK.sub(r"\1", without_links(texts[0])) == ANY_LINK.sub(r"\1", first)

"""The line of links that a release writes into a lesson: to the lessons around it and to the start page."""

from collections.abc import Sequence

from course_utils.start_page.index_notebook import INDEX
from course_utils.start_page.lesson_facts import MORE, LessonFacts

ALL_LESSONS = f"[All lessons](../{INDEX})"


def links_of(lesson: str, lessons: Sequence[LessonFacts], more: bool = False) -> str:
    """Return the line of links of a lesson.

    Args:
        lesson: The lesson's name.
        lessons: All lessons, in their order.
        more: The lesson has an optional notebook, too.
    """
    place = [one.name for one in lessons].index(lesson)
    around = {"previous": lessons[max(0, place - 1) : place], "next": lessons[place + 1 : place + 2]}
    links = [f"{word}: [{one.title}](../{one.path})" for word, found in around.items() for one in found]
    optional = [f"optional: [more on this lesson](../{MORE}/{lesson}.ipynb)"] if more else []
    return " · ".join([ALL_LESSONS, *links, *optional])


def link_back(lesson: str, lessons: Sequence[LessonFacts]) -> str:
    """Return the line of links of a lesson's optional notebook."""
    [core] = [one for one in lessons if one.name == lesson]
    return f"{ALL_LESSONS} · lesson: [{core.title}](../{core.path})"


def without_links(text: str) -> str:
    """Return the text of a cell without its line of links, for pages that have links of their own."""
    return "\n\n".join(part for part in text.split("\n\n") if not part.startswith(ALL_LESSONS))

"""The map of the course: which lesson builds on which, as a Mermaid diagram that JupyterLab draws."""

from collections.abc import Sequence

from course_utils.start_page.lesson_facts import LessonFacts


def map_of_lessons(lessons: Sequence[LessonFacts]) -> str:
    """Return the map in Mermaid, with a title and a description for those who do not see it.

    Args:
        lessons: All lessons; those that they build on and that are not among them are left out.
    """
    present = {one.number: one for one in lessons}
    edges = [(before, one.number) for one in lessons for before in direct_needs(one, present)]
    return "\n".join(
        [
            "flowchart LR",
            "accTitle: Map of the course",
            f"accDescr: {_description(lessons, edges)}",
            *(f'L{one.number}["{_label(one)}"]' for one in lessons),
            *(f"L{before} --> L{after}" for before, after in edges),
        ]
    )


def direct_needs(lesson: LessonFacts, present: dict[str, LessonFacts]) -> list[str]:
    """Return the lessons that a lesson builds on, without those that these build on themselves."""
    needed = [number for number in lesson.needed_lessons if number in present and number < lesson.number]
    return [one for one in needed if not any(one in _all_needs(other, present) for other in needed)]


def _all_needs(number: str, present: dict[str, LessonFacts]) -> set[str]:
    below = {one for one in present[number].needed_lessons if one in present and one < number}
    return below.union(*(_all_needs(one, present) for one in below))


def _label(lesson: LessonFacts) -> str:
    # Quotes, brackets and angle brackets mean something in Mermaid, and a student can edit a title.
    return "".join(letter for letter in lesson.title if letter.isalnum() or letter in " ,.:-")


def _description(lessons: Sequence[LessonFacts], edges: Sequence[tuple[str, str]]) -> str:
    needs = {one.number: [before for before, after in edges if after == one.number] for one in lessons}
    parts = [f"Lesson {number} builds on {' and '.join(some)}" for number, some in needs.items() if some]
    return f"{'. '.join(parts)}." if parts else "The lessons can be read in any order."

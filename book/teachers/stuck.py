"""What `make progress` shows of a class, for a page that explains it."""

from typing import cast

from book.lesson_pages import LessonPage
from book.teachers.lesson_parts import exercises
from book.teachers.stumbles import wrong_answers
from course_utils.checks.core import NOT_WRITTEN_YET
from grading.course.result import Summary
from grading.scoring import report

RIGHT, NOT_BEGUN = (14, 9, 5, 0), (1, 4, 9, 16)  # of a class in the middle of a lesson, by exercise


def progress_example(lesson: LessonPage, students: int = 20) -> str:
    """Return the table of `make progress` for an invented class with mistakes of the bank.

    Args:
        lesson: A lesson with four exercises.
        students: How many handed in.
    """
    bank = wrong_answers(lesson.name.partition("_")[2])
    outcomes = {}
    for exercise, right, not_begun in zip(exercises(lesson.solution), RIGHT, NOT_BEGUN, strict=True):
        found = bank[exercise.name]
        common = sorted(found, key=lambda mistake: -len(found[mistake]))[:2]
        wrong = students - right - not_begun
        mistakes = [common[0]] * (wrong - wrong // 3) + [common[-1]] * (wrong // 3)
        outcomes[exercise.name] = [""] * right + [NOT_WRITTEN_YET] * not_begun + mistakes
    return report.progress(
        [
            cast(
                Summary,
                {
                    "lesson": lesson.name,
                    "exercises": {
                        name: {"mistake": all_of[student], "status": "wrong" if all_of[student] else "right"}
                        for name, all_of in outcomes.items()
                    },
                },
            )
            for student in range(students)
        ]
    )

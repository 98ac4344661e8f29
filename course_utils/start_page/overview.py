"""How far a student is in the course: the start page in Markdown, and as text for a terminal."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_utils.start_page.course_map import map_of_lessons
from course_utils.start_page.exercise_state import State
from course_utils.start_page.lesson_progress import LessonProgress, find_lessons
from course_utils.start_page.machine_notes import machine_notes
from course_utils.train_script import LOG, picture, progress, read_log

NOT_MEASURED = "Lesson 00 writes `my_files/train.py`, a slow training that you make faster, and measures it."
NONE_HERE = "There is no lesson in this folder: run this in the folder that holds them, `notebooks/`."


@dataclass(frozen=True)
class CourseOverview:
    """The lessons of a folder, how far each is, and what the machine lacks.

    Attributes:
        lessons: The lessons, in their order.
        notes: Sentences about this machine.
        script: What is known of the student's own `train.py`, in Markdown.
    """

    lessons: tuple[LessonProgress, ...]
    notes: tuple[str, ...] = ()
    script: str = ""

    def _repr_markdown_(self) -> str:
        # Called by IPython.
        if not self.lessons:
            return NONE_HERE
        facts = [one.facts for one in self.lessons]
        return "\n\n".join(
            [
                "## Where you are",
                f"**{self.summary}** {_next_step(self.lessons)}".rstrip(),
                *self.notes,
                "## Lessons",
                "\n".join(
                    ["| lesson | exercises | minutes | what you need |", "|---|---|---|---|", *self._rows()]
                ),
                "## Your script",
                self.script,
                "## Map",
                f"```mermaid\n{map_of_lessons(facts)}\n```",
            ]
        )

    def __repr__(self) -> str:
        if not self.lessons:
            return NONE_HERE
        lines = [f"{one.facts.title}: {exercises_told(one)}" for one in self.lessons]
        return "\n".join([self.summary, *lines, *self.notes])

    @property
    def summary(self) -> str:
        """How many exercises of all lessons are passed."""
        exercises = sum(len(one.exercises) for one in self.lessons)
        return f"{sum(one.passed for one in self.lessons)} of {exercises} exercises passed."

    def _rows(self) -> Iterator[str]:
        for one in self.lessons:
            needs = one.facts.needs.replace("|", "\\|")
            yield f"| {_link(one)} | {exercises_told(one)} | {one.facts.minutes} | {needs} |"


def course_overview(folder: Path | None = None, this_machine: bool = True) -> CourseOverview:
    """Return how far a student is, from the notebooks as they were saved.

    Args:
        folder: The folder that holds the lessons' folders; None is the working directory.
        this_machine: Whether to say what this machine lacks.
    """
    folder = folder or Path.cwd()
    lessons = find_lessons(folder)
    notes = machine_notes([one.facts.number for one in lessons]) if this_machine else ()
    return CourseOverview(lessons, notes, _script(folder / "my_files") if this_machine else NOT_MEASURED)


def exercises_told(lesson: LessonProgress) -> str:
    """Return how far the exercises of a lesson are, such as `2 of 4 passed; not right yet: 3`."""
    if lesson.problem:
        return lesson.problem
    if not lesson.exercises:
        return "none"
    told = [f"{'✓ ' * (lesson.next_exercise is None)}{lesson.passed} of {len(lesson.exercises)} passed"]
    for state in (State.FAILED, State.UNCHECKED, State.MISSING):
        found = [one for one in lesson.exercises if one.state is state]
        names = [one.name if state is State.MISSING else str(one.number) for one in found]
        told += [f"{state.value}: {', '.join(names)}"] if names else []
    return "; ".join(told)


def _script(folder: Path) -> str:
    try:
        log = read_log(folder / LOG)
    except FileNotFoundError:
        return NOT_MEASURED
    except ValueError as error:
        return f"The log of `my_files/train.py` cannot be read: {error}"
    drawn = f"{picture(progress(log))}\n\n" if len(log) > 1 else ""
    return f"{drawn}The runs of `my_files/train.py`, one a line:\n\n```\n{log!r}\n```"


def _next_step(lessons: tuple[LessonProgress, ...]) -> str:
    for one in lessons:
        if one.next_exercise and one.next_exercise.state is not State.MISSING:
            begun = any(exercise.state is not State.NOT_BEGUN for exercise in one.exercises)
            return (
                f"{'Continue' if begun else 'Begin'} with {_link(one)}, exercise {one.next_exercise.number}."
            )
    return ""


def _link(lesson: LessonProgress) -> str:
    title = lesson.facts.title.replace("|", "\\|").replace("[", "\\[").replace("]", "\\]")
    return f"[{title}](<{lesson.path}>)"

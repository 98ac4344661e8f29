"""The lessons in a folder, and how far each is."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_utils.start_page.exercise_state import Exercise, State, exercise_states
from course_utils.start_page.lesson_facts import MORE, LessonFacts, read_facts
from course_utils.start_page.saved_notebook import SavedNotebook, read_saved, text_of

CHECKS = Path(__file__).parents[1] / "checks"
LESSONS = "[0-9][0-9]_*"  # names of their folders
GET_IT_BACK = "fetch the lesson again, or restore it by `git checkout`"


@dataclass(frozen=True)
class LessonProgress:
    """A lesson and its exercises.

    Attributes:
        facts: What the lesson says of itself.
        path: Its notebook, relative to the folder of all lessons.
        exercises: Its exercises; empty where the notebook cannot be read.
        problem: Why the notebook cannot be read, and what to do; empty if it can.
    """

    facts: LessonFacts
    path: str
    exercises: tuple[Exercise, ...] = ()
    problem: str = ""

    @property
    def passed(self) -> int:
        """How many exercises are passed."""
        return sum(one.state is State.PASSED for one in self.exercises)

    @property
    def next_exercise(self) -> Exercise | None:
        """The first exercise that is not passed."""
        return next((one for one in self.exercises if one.state is not State.PASSED), None)


def find_lessons(folder: Path) -> tuple[LessonProgress, ...]:
    """Return the lessons in a folder, in their order; those that are not released yet are not there."""
    return tuple(_read_lesson(one) for one in sorted(folder.glob(LESSONS)) if one.is_dir())


def _read_lesson(folder: Path) -> LessonProgress:
    facts = LessonFacts(folder.name, folder.name)
    checks = {path.stem for path in (CHECKS / folder.name[3:]).glob("[!_]*.py")}
    expected = checks - _optional(folder)
    found = {path: read_saved(path) for path in _notebooks(folder)}
    readable = {path: notebook for path, notebook in found.items() if notebook and notebook.cells}
    if not readable:
        problem = "the notebook cannot be read" if found else "the notebook is missing"
        return LessonProgress(facts, facts.path, problem=f"{problem}: {GET_IT_BACK}")
    path, notebook = max(readable.items(), key=lambda item: _rank(item[0], item[1], expected))
    facts = read_facts(folder.name, text_of(notebook.cells[0].source))
    exercises = exercise_states(notebook, expected)
    return LessonProgress(facts, path.relative_to(folder.parent).as_posix(), exercises)


def _optional(folder: Path) -> set[str]:
    """Return the names of the exercises that stand, without marks, in the lesson's optional notebook."""
    notebook = read_saved(folder.parent / MORE / f"{folder.name}.ipynb")
    answers = notebook.marked(solution=True) if notebook else {}
    return {name.removesuffix("_answer") for name in answers}


def _notebooks(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.glob("*.ipynb")) if path.is_file())


def _rank(path: Path, notebook: SavedNotebook, expected: set[str]) -> tuple[bool, int]:
    """Prefer the notebook of the lesson's name, then the one with the most checks, which was renamed."""
    return path.stem == path.parent.name, len(expected & notebook.marked(solution=False).keys())

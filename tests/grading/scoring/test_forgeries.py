"""Wrong answers to all exercises, with code that forges, hides or answers for them: none earns points."""

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from course_utils.grading.course.lesson import Lesson
from course_utils.grading.course.result import Exercise
from course_utils.grading.sandbox.client import Sandbox
from course_utils.grading.sandbox.isolation import backends
from course_utils.grading.scoring.judge import Judge
from course_utils.grading.scoring.scorer import sandbox_steps
from tests.bank import Answer, answers, read_answers
from tests.grading.attacks import any_check
from tests.grading.toy_course import cell_of
from tests.lessons.lesson import LESSONS

FORGERIES = Path(any_check.__file__).parent / "forgeries"
LESSON_OF = {one.name.partition("_")[2]: one.solution.parent for one in LESSONS}

try:
    KIND = backends.choose()
except backends.NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)


def first_wrong(lesson: str) -> dict[str, Answer]:
    """A wrong answer that runs to its end, for each exercise of a lesson."""
    found: dict[str, Answer] = {}
    for answer in answers(lesson):
        if answer.mistake not in (None, "crash", "not_written_yet"):
            found.setdefault(answer.check, answer)
    return found


FORGED = [forged for file in sorted(FORGERIES.glob("*/*.md")) for forged in read_answers(file).values()]
ATTACKED = [
    (wrong, name)
    for lesson in sorted(LESSON_OF)
    for wrong in first_wrong(lesson).values()
    for name in any_check.ATTACKS
]


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(KIND) as sandbox:
        yield sandbox


def outcome(sandbox: Sandbox, wrong: Answer, source: str, seed: int) -> Exercise:
    """Grade one answer, without the other exercises of its lesson."""
    lesson = Lesson(LESSON_OF[wrong.lesson])
    notebook = nbformat.from_dict(lesson.source)
    cell_of(notebook, f"{wrong.check}_answer").source = source
    judge = Judge(lesson, seed)
    steps = sandbox_steps(lesson, notebook, judge)
    answer = next(step for step in steps if step.source == source)
    others = {cell_of(notebook, f"{name}_answer").source for name in lesson.graded if name != wrong.check}
    chosen = [
        step
        for step in steps
        if step.check == wrong.check or (not step.check and step.index <= answer.index)
        if step.source not in others
    ]
    return judge.outcome(wrong.check, notebook, sandbox.run(chosen, lesson.files()))


@pytest.mark.proof
@pytest.mark.parametrize("forged", FORGED, ids=lambda one: f"{one.check}-{one.name}")
def test_forged_answer_earns_nothing(sandbox, forged):
    found = outcome(sandbox, forged, forged.source, seed=1)
    assert (found["points"], found["status"] == "grader fault") == (0, False), found


@pytest.mark.proof
@pytest.mark.parametrize(("wrong", "attack"), ATTACKED, ids=str)
def test_attacked_check_still_refuses_a_wrong_answer(sandbox, wrong, attack):
    find = any_check.FIND.format(lesson=wrong.lesson, exercise=wrong.check)
    found = outcome(sandbox, wrong, find + any_check.ATTACKS[attack] + wrong.source, seed=1)
    assert (found["points"], found["status"] == "grader fault") == (0, False), found


def test_every_exercise_is_attacked():
    exercises = {(lesson, name) for lesson, folder in LESSON_OF.items() for name in Lesson(folder).graded}
    assert {(forged.lesson, forged.check) for forged in FORGED} == exercises
    assert {(wrong.lesson, wrong.check) for wrong, _ in ATTACKED} == exercises
    assert len(FORGED) + len(ATTACKED) > 250

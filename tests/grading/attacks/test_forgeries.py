"""Wrong answers to all exercises, with code that forges, hides or answers for them: none earns points."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grading.answers.bank import Answer, answers, read_answers
from grading.course.lesson import Lesson
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.scoring.examination import Sandboxes
from tests.grading.attacks import any_check
from tests.grading.scoring.single_answer import LESSON_OF, grade_answer
from tests.whole import one_in

# Some forgeries wait for an answer that never comes; what takes longer earns nothing either.
LIMITS = Limits(cell_seconds=10, exercise_seconds=10)
FORGERIES = Path(any_check.__file__).parent / "forgeries"

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


# Attacks on what all checks share: each meets some exercises, and each exercise some of them.
EVERY = 8
FORGED = [forged for file in sorted(FORGERIES.glob("*/*.md")) for forged in read_answers(file).values()]
GRADED = [
    (Lesson(folder), wrong)
    for lesson, folder in sorted(LESSON_OF.items())
    for wrong in first_wrong(lesson).values()
    if wrong.check in Lesson(folder).graded
]
WITH_WORLD = [(lesson, wrong) for lesson, wrong in GRADED if lesson.check(wrong.check).world]
ATTACKED = [
    (wrong, name)
    for turn, name in enumerate(any_check.ATTACKS)
    for _, wrong in (WITH_WORLD if name.startswith("world_") else GRADED)[(turn + 1) % EVERY :: EVERY]
]


@pytest.fixture(scope="module")
def sandboxes() -> Iterator[Sandboxes]:
    with Sandbox(KIND, limits=LIMITS) as first, Sandbox(KIND, limits=LIMITS) as second:
        yield first, second


def expect_no_points(sandboxes: Sandboxes, wrong: Answer, source: str) -> None:
    found, _ = grade_answer(sandboxes, wrong.lesson, wrong.check, source)
    assert (found["points"], found["status"] == "grader fault") == (0, False), found


@pytest.mark.parametrize("forged", one_in(2, FORGED))
def test_forged_answer_earns_nothing(sandboxes, forged):
    expect_no_points(sandboxes, forged, forged.source)


@pytest.mark.proof
@pytest.mark.parametrize(("wrong", "attack"), ATTACKED, ids=str)
def test_attacked_check_still_refuses_a_wrong_answer(sandboxes, wrong, attack):
    find = any_check.FIND.format(lesson=wrong.lesson, exercise=wrong.check)
    expect_no_points(sandboxes, wrong, find + any_check.ATTACKS[attack] + wrong.source)


def test_every_exercise_is_attacked():
    exercises = {(lesson, name) for lesson, folder in LESSON_OF.items() for name in Lesson(folder).graded}
    assert {(forged.lesson, forged.check) for forged in FORGED} <= exercises
    assert {(wrong.lesson, wrong.check) for wrong, _ in ATTACKED} == exercises
    assert {name for _, name in ATTACKED} == any_check.ATTACKS.keys()

"""The judges of all lessons, with the evidence of the solution and with forged evidence."""

import math
from collections.abc import Callable, Iterator

import nbformat
import numpy as np
import pytest

from course_utils.checks.core import evidence
from course_utils.checks.core.check import Mistake
from grading.course.lesson import Lesson
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.steps import Reply
from grading.scoring.examination import Sandboxes, sandbox_steps
from grading.scoring.judge import Judge
from tests.grading.attacks import forge_world
from tests.grading.scoring.single_answer import grade_answer
from tests.lessons.lesson import LESSONS

SEEDS = (1, 2)
FORGED = [
    None,
    True,
    0,
    1,
    -1,
    10**30,
    math.nan,
    math.inf,
    "",
    "right",
    b"",
    [],
    {},
    [[]],
    np.zeros(3),
    np.full(3, np.nan),
]

try:
    KIND = backends.choose()
except backends.NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)


@pytest.fixture(scope="module")
def sandboxes() -> Iterator[Sandboxes]:
    with Sandbox(KIND) as first, Sandbox(KIND) as second:
        yield first, second


@pytest.fixture(scope="module", params=LESSONS, ids=[lesson.name for lesson in LESSONS])
def examined(request: pytest.FixtureRequest, sandboxes: Sandboxes) -> list[tuple[Judge, dict[str, Reply]]]:
    """The replies to the checks of a lesson's solution, with new inputs for each seed."""
    lesson = Lesson(request.param.solution.parent)
    found = []
    for seed in SEEDS:
        judge = Judge(lesson, seed)
        steps = sandbox_steps(lesson, nbformat.from_dict(lesson.source), judge)
        replies = sandboxes[0].run(steps, lesson.files())
        checked = {step.check: replies[step.index] for step in steps if step.check}
        assert len(checked) == len(lesson.graded) > 0
        found.append((judge, checked))
    return found


def _one_of_each_check() -> Iterator[object]:
    """Mark all forgeries but the first of each check as proofs."""
    seen = set()
    for forgery in forge_world.FORGERIES:
        marks = [pytest.mark.proof] if forgery.check in seen else []
        seen.add(forgery.check)
        yield pytest.param(forgery, marks=marks, id=str(forgery))


@pytest.mark.parametrize("forgery", [*_one_of_each_check()])
def test_forged_behaviour_earns_nothing(sandboxes, forgery):
    """What an answer did is seen from outside: no code beside the answer can tell otherwise."""
    lesson = forgery.lesson.partition("_")[2]
    found, error = grade_answer(sandboxes, lesson, forgery.check, forgery.source)
    assert (found["points"], error) == (0, ""), found
    assert found["mistake"] in forgery.mistakes, found


def _verdict(judge: Judge, name: str, reply: Reply, data: bytes) -> str:
    """Judge evidence together with the world of a reply."""
    try:
        return judge.lesson.check(name).verdict(judge.truth(name), data, reply.world)
    except Mistake as mistake:
        return f"mistake: {mistake.name}"


def _changed(value: object, change: Callable[[object], object]) -> object:
    if isinstance(value, dict):
        return {key: _changed(part, change) for key, part in value.items()}
    if isinstance(value, list):
        return [_changed(part, change) for part in value]
    return change(value)


def test_solution_is_right_for_each_seed(examined):
    for judge, found in examined:
        verdicts = {name: _verdict(judge, name, reply, reply.evidence) for name, reply in found.items()}
        assert {name: verdict for name, verdict in verdicts.items() if "mistake" in verdict} == {}


def test_evidence_of_other_inputs_is_wrong_in_some_exercise(examined):
    """Evidence kept from one grading must not pass in the next; some exercises have fixed answers."""
    (_, old), (judge, new) = examined
    copied = [name for name in old if "mistake" in _verdict(judge, name, new[name], old[name].evidence)]
    assert copied


@pytest.mark.parametrize("forged", FORGED, ids=repr)
def test_forged_evidence_is_a_mistake(examined, forged):
    judge, found = examined[0]
    for name, reply in found.items():
        data = evidence.encode({"evidence": forged})
        assert data == reply.evidence or "mistake" in _verdict(judge, name, reply, data), name


@pytest.mark.parametrize("number", [math.nan, math.inf, True, None])
def test_special_numbers_in_the_evidence_are_a_mistake(examined, number):
    judge, found = examined[0]
    for name, reply in found.items():
        right = evidence.decode(reply.evidence)["evidence"]

        def special(value):
            if isinstance(value, np.ndarray):
                return np.full(value.shape, np.nan)
            return number if isinstance(value, (int, float)) else value

        changed = evidence.encode({"evidence": _changed(right, special)})
        assert changed == evidence.encode({"evidence": right}) or "mistake" in _verdict(
            judge, name, reply, changed
        ), name

"""Check a plan of which worker of which node reads which shard."""

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import (
    AttemptOf,
    Evidence,
    Inputs,
    ProcessStates,
    Truth,
    attempt,
    type_name,
)


class Planned(TypedDict):
    """A plan.

    Args:
        problem: What is wrong with its form; otherwise empty.
        assignment: The names by node and worker.
        steps: The number of steps.
        changed: Whether the list of shards was changed.
    """

    problem: str
    assignment: list[list[list[str]]]
    steps: int
    changed: bool


class Found(TypedDict):
    """The plans in the order in which they were asked for."""

    plans: list[AttemptOf[Planned]]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw clusters and shards; each plan is asked for twice, and again with the shards in another order."""
    cases = _draw_cases(rng)
    asked, numbers = [], []
    for again in range(3):
        for number in rng.permutation(len(cases)).tolist():
            case = cases[number]
            if again == 2:
                case = {**case, "shards": [case["shards"][n] for n in rng.permutation(len(case["shards"]))]}
            asked.append(case)
            numbers.append(number)
    return {"asked": asked}, {"asked": asked, "cases": numbers}


def _draw_cases(rng: np.random.Generator) -> list[dict[str, Any]]:
    """Draw cases in which one short-cut each leads to a bad plan."""

    def case(nodes: int, workers: int, sizes: Sequence[int], samples: Sequence[int]) -> dict[str, Any]:
        name = f"{rng.integers(10**6):06d}"
        shards = [[f"{name}-{n:05d}.tar", *both] for n, both in enumerate(zip(sizes, samples, strict=True))]
        listed = [shards[n] for n in rng.permutation(len(shards))]
        return {"shards": listed, "nodes": nodes, "workers": workers, "batch_size": batch}

    def some(count: int, low: int, high: int) -> list[int]:
        return [int(number) for number in rng.integers(low, high, count)]

    batch = int(rng.integers(20, 30))
    # In the order of the names, every sixth shard is large, and each has fewer samples than the one before.
    strided = [size * (1 if n % 6 else 10) for n, size in enumerate(some(int(rng.integers(23, 27)), 90, 99))]
    clustered = some(6, 900, 990) + some(13, 80, 90)
    falling = sorted(rng.choice(np.arange(100, 500), len(strided), replace=False).tolist(), reverse=True)
    # Balanced samples leave the many small samples of one worker against the few large ones of another.
    sizes, samples = some(6, 8, 10) + some(8, 900, 990), some(6, 190, 200) + some(8, 19, 21)
    full = int(rng.integers(8, 12)) * batch + batch - 1
    return [
        case(3, 2, strided, falling),
        case(2, 3, clustered, some(19, 100, 500)),
        case(2, 2, sizes, samples),
        case(3, 2, [700] * 8, some(8, 100, 500)),
        case(3, 2, some(4, 60, 99), some(4, 100, 500)),
        case(2, 3, [5000, *some(9, 10, 20)], some(10, 100, 500)),
        case(2, 3, [700] * 6, [full] * 5 + [full - 2 * batch]),
        case(4, 3, some(4, 60, 99), some(4, 100, 500)),
        case(1, 1, some(3, 60, 99), some(3, 100, 500)),
        case(4, 2, some(3, 60, 99), some(3, 100, 500)),
    ]


def probe(inputs: Inputs, plan: Callable[..., Any]) -> Found:
    """Ask for the plans."""
    plans: list[Any] = []
    with ProcessStates() as processes:
        for number, asked in enumerate(inputs["asked"]):
            with processes.of_process(number):
                plans.append(attempt(partial(_planned, plan, **asked)))
    return {"plans": plans}


def _planned(
    plan: Callable[..., Any], shards: list[list[Any]], nodes: int, workers: int, batch_size: int
) -> Planned:
    given = [tuple(shard) for shard in shards]
    result = plan(given, nodes, workers, batch_size)
    found: Planned = {"problem": "", "assignment": [], "steps": 0, "changed": False}
    found["changed"] = given != [tuple(shard) for shard in shards]
    if not isinstance(result, tuple | list) or len(result) != 2:
        return {**found, "problem": f"an object of type {type_name(result)}, not a pair"}
    try:
        found["assignment"] = [[[_name(name) for name in worker] for worker in node] for node in result[0]]
        found["steps"] = operator.index(result[1])
    except TypeError as error:
        found["problem"] = f"something else ({error})"
    return found


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"an object of type {type_name(name)} where the name of a shard should be")
    return str(name)


def judge(truth: Truth, evidence: Evidence) -> str:
    """Check each plan, and that plans for the same shards are the same."""
    # Imported here, because the sandbox of the grader does not show it.
    from course_utils.checks.many_nodes._plan_rules import Case, expect_plans

    expect_plans([Case.from_plain(asked) for asked in truth["asked"]], truth["cases"], evidence["plans"])
    return (
        "Each shard is read once, bytes and work are shared evenly, and every node makes the same plan with "
        "the same number of steps."
    )


def stable(truth: Truth, evidence: Evidence) -> Evidence:
    """Return the plans, which must be the same in each process."""
    return [one.get("value") for one in evidence["plans"]]

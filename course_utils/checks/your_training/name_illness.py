"""Exercise of lesson 06: name the cause of an illness from what was measured of a script."""

import copy
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, type_name


class Answer(TypedDict):
    """What was returned: a text, or the type of what is none."""

    cause: str | None
    kind: str


class Found(TypedDict):
    """The answer to each piece of evidence, in the order that was asked for."""

    answers: list[Answer]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw evidence of ill and of healthy scripts, and an order to ask in: twice for each."""
    # Imported here, because the sandbox of the grader does not show it.
    from course_utils.checks.your_training._illnesses import draw_cases

    cases = draw_cases(rng)
    order = [*rng.permutation(len(cases)).tolist(), *rng.permutation(len(cases)).tolist()]
    return {"asked": [cases[n]["evidence"] for n in order]}, {"cases": cases, "order": order}


def probe(inputs: Inputs, name: Callable[..., Any]) -> Found:
    """Ask for the cause of each."""
    return {"answers": [_answer(name(copy.deepcopy(evidence))) for evidence in inputs["asked"]]}


def _answer(cause: object) -> Answer:
    return {"cause": str(cause) if isinstance(cause, str) else None, "kind": type_name(cause)}


def judge(truth: Truth, evidence: Evidence) -> str:
    """Compare the names with the causes; what was named instead says what misled."""
    from course_utils.checks.your_training._illness_words import misled, not_a_cause
    from course_utils.checks.your_training._illnesses import RESULT

    cases: list[dict[str, Any]] = truth["cases"]
    said: dict[int, str] = {}
    for number, answer in zip(truth["order"], evidence["answers"], strict=True):
        if answer["cause"] is None:
            raise Mistake("not_a_name", f"Return the name of a cause as a text, not {answer['kind']}.")
        if said.setdefault(number, answer["cause"]) != answer["cause"]:
            raise Mistake(
                "keeps_state",
                "Asked twice about the same script, you name two causes. Each call must start afresh: keep "
                "nothing outside the function.",
            )
    for name in said.values():
        if (unknown := not_a_cause(name)) is not None:
            raise unknown
    if len(set(said.values())) == 1 and said[0] not in RESULT:
        raise Mistake(
            "one_name_for_all",
            f"You call all of {len(cases)} scripts {said[0]}, but not all are like the example.",
        )
    for number, case in enumerate(cases):
        if said[number] != case["cause"]:
            raise misled(case, said[number])
    return (
        f"All {len(cases)} scripts have their cause: what makes results wrong first, then what makes the "
        "training wait; and the healthy ones are left alone."
    )

"""Check a function that chooses a packed format by what a project requires."""

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, type_name
from course_utils.format_trials import Requirements


class Answer(TypedDict):
    """What was chosen: the name of its type, and the text if it is one."""

    kind: str
    name: str


class Found(TypedDict):
    """The choice for each set of requirements."""

    chosen: list[Answer]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw sets of requirements, and an order to ask for them in: each is asked for twice."""
    # Imported here, because the sandbox of the grader does not show it.
    from course_utils.checks.packed_formats import _format_rules

    cases = _format_rules.draw_cases(rng)
    order = np.concatenate([rng.permutation(len(cases)), rng.permutation(len(cases))]).tolist()
    return {"asked": [cases[n] for n in order]}, {"cases": cases, "order": order}


def probe(inputs: Inputs, choose: Callable[..., Any]) -> Found:
    """Let the student choose a format for each set of requirements."""
    return {"chosen": [_answer(choose(Requirements(**asked))) for asked in inputs["asked"]]}


def _answer(chosen: object) -> Answer:
    if isinstance(chosen, str):  # NumPy's are a subclass
        return {"kind": "str", "name": str(chosen)}
    return {"kind": type_name(chosen), "name": ""}


def judge(truth: Truth, found: Evidence) -> str:
    """Compare each choice with the formats that the requirements leave."""
    from course_utils.checks.packed_formats import _format_rules

    chosen: list[list[Answer]] = [[] for _ in truth["cases"]]
    for number, answer in zip(truth["order"], found["chosen"], strict=True):
        chosen[number].append(answer)
    for case, answers in zip(truth["cases"], chosen, strict=True):
        wanted = Requirements(**case)
        for answer in answers:
            _expect_name(answer, _format_rules.NAMES, _format_rules.describe(wanted))
    for rule in _format_rules.RULES:
        for case, answers in zip(truth["cases"], chosen, strict=True):
            wanted = Requirements(**case)
            wrong = [answer["name"] for answer in answers if answer["name"] in rule.excluded]
            if wrong and rule.applies(wanted):
                asked = _format_rules.describe(wanted)
                raise Mistake(rule.mistake, f"For {asked}, you choose {wrong[0]}; but {rule.reason}")
    return "Every choice is one that the requirements allow."


def _expect_name(answer: Answer, names: tuple[str, ...], asked: str) -> None:
    if answer["kind"] == "NoneType":
        raise Mistake(
            "no_choice", f"For {asked}, choose returns None. There is always a format that will do."
        )
    if answer["kind"] != "str":
        raise Mistake(
            "not_a_name",
            f"For {asked}, choose returns a value of type {answer['kind']}. Return the name of one format as "
            "a str, such as 'Tar'.",
        )
    if answer["name"] not in names:
        raise Mistake(
            "unknown_format",
            f"For {asked}, choose returns {answer['name'][:50]!r}. The formats are {', '.join(names)}.",
        )

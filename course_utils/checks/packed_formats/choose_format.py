"""Check a function that lists the packed formats that a project can use, the fastest first."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth, type_name
from course_utils.format_trials import FACTS, Requirements

ROUNDING = 1e-6  # relative: times that differ by less are equal


class Answer(TypedDict):
    """What was returned: the names in a list, or the name of a type that is none of these."""

    kind: str
    names: list[str]


class Found(TypedDict):
    """The answer to each set of requirements."""

    chosen: list[Answer]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw sets of requirements, and an order to ask for them in: each is asked for twice."""
    # Imported here, because the sandbox of the grader does not show it.
    from course_utils.checks.packed_formats import _format_rules

    cases = _format_rules.draw_cases(rng)
    order = np.concatenate([rng.permutation(len(cases)), rng.permutation(len(cases))]).tolist()
    return {"asked": [cases[n] for n in order]}, {"cases": cases, "order": order}


def probe(inputs: Inputs, choose: Callable[..., Any]) -> Found:
    """Let the student list the formats for each set of requirements."""
    return {"chosen": [_answer(choose(Requirements(**asked))) for asked in inputs["asked"]]}


def _answer(chosen: object) -> Answer:
    if not isinstance(chosen, list | tuple | np.ndarray):
        return {"kind": type_name(chosen), "names": []}
    others = [type_name(name) for name in chosen if not isinstance(name, str)]  # NumPy's are a subclass
    return {"kind": f"list with a {others[0]}" if others else "", "names": [str(name) for name in chosen]}


def judge(truth: Truth, evidence: Evidence) -> str:
    """Compare each list with the formats that the requirements leave, and with the times of reading them."""
    from course_utils.checks.packed_formats import _format_rules

    answers = [
        (Requirements(**truth["cases"][number]), answer)
        for number, answer in sorted(
            zip(truth["order"], evidence["chosen"], strict=True), key=lambda pair: pair[0]
        )
    ]
    for wanted, answer in answers:
        _expect_names(answer, _format_rules.NAMES, f"For {_format_rules.describe(wanted)}, choose")
    for rule in _format_rules.RULES:
        for wanted, answer in answers:
            wrong = sorted(rule.excluded.intersection(answer["names"]))
            if wrong and rule.applies(wanted):
                asked = _format_rules.describe(wanted)
                raise Mistake(rule.mistake, f"For {asked}, you list {wrong[0]}; but {rule.reason(wrong[0])}.")
    for wanted, answer in answers:
        asked, names = f"For {_format_rules.describe(wanted)}", answer["names"]
        if missing := sorted(_format_rules.admissible(wanted).difference(names)):
            hint = _hint(wanted, missing[0])
            raise Mistake(
                "leaves_out", f"{asked}, you leave out {missing[0]}, and no requirement excludes it.{hint}"
            )
        _expect_order(asked, names, [_format_rules.seconds(wanted, name) for name in names])
    return "You list every format that the requirements allow and no other one, the fastest first."


def _hint(wanted: Requirements, name: str) -> str:
    """Return what a student may have overlooked who leaves out a format."""
    facts = FACTS[name]
    if wanted.samples == wanted.file_quota or facts.index_bytes * wanted.samples == wanted.worker_memory:
        return " A limit that is exactly reached is not exceeded."
    if wanted.place == "shared" and wanted.access == "stream" and facts.shared == "random":
        return ' Where `shared` is "random", a stream is served well, too.'
    return f" Go through FACTS, where {name} is one of {len(FACTS)}: each fact has its row in the table."


def _expect_names(answer: Answer, names: tuple[str, ...], asked: str) -> None:
    if answer["kind"] == "NoneType":
        raise Mistake("no_choice", f"{asked} returns None. There is always a format that will do.")
    if answer["kind"]:
        raise Mistake(
            "not_a_list",
            f"{asked} returns a value of type {answer['kind']}. Return a list of the names of all formats "
            "that will do, such as ['Tar', 'FlatFile'].",
        )
    if unknown := [name for name in answer["names"] if name not in names]:
        raise Mistake(
            "unknown_format", f"{asked} lists {unknown[0][:50]!r}. The formats are {', '.join(names)}."
        )
    if len(set(answer["names"])) < len(answer["names"]):
        raise Mistake("named_twice", f"{asked} lists a format twice: {', '.join(answer['names'])[:200]}.")


def _expect_order(asked: str, names: list[str], times: list[float]) -> None:
    """Compare neighbours in the list; equally fast ones may come in any order."""
    for (one, other), (first, second) in zip(pairwise(names), pairwise(times), strict=True):
        if first > second * (1 + ROUNDING):
            raise Mistake(
                "not_the_fastest_first",
                f"{asked}, you list {one} before {other}. Reading a sample takes {first:.3g} s and "
                f"{second:.3g} s: requests * latency, plus the bytes that arrive / bandwidth. Sort by that.",
            )

"""Check the bank's answers in this process, as in a student's notebook and without nbgrader."""

import contextlib
import functools
import itertools
import os
import re
import sys
import types
from typing import NamedTuple

import pytest
from _pytest.mark import ParameterSet

from course_utils.checks.core.check import Check, CheckFailed
from course_utils.system import in_child
from tests.bank import Answer, answers
from tests.lessons.lesson import LESSONS, OPTIONAL, Lesson, code_cells, read

# What an answer registers with the interpreter outlives it: it is judged in a process that ends afterwards.
REGISTERS = ("register_at_fork", "addaudithook", "atexit")
MODULE = "answer_of_the_bank_"
_numbers = itertools.count()


# These start many processes or draw much: `make test` gives them all right answers and one wrong one. In
# `make proofs`, test_bank_seeds.py gives all answers to all checks, with several draws.
SLOW = (
    "handle_per_process",
    "mend_train",
    "million_labels",
    "operations_budget",
    "repair_tar",
    "reproducible_loader",
    "stage",
    "write_shards",
)


def bank_of(lesson: str) -> list[ParameterSet]:
    """Return the answers of a lesson's bank that are judged quickly, as the parameters of a test."""
    bank = answers(lesson)
    first_wrong = {answer.check: answer for answer in reversed(bank) if answer.mistake}

    def is_quick(answer: Answer) -> bool:
        return answer.check not in SLOW or not answer.mistake or answer == first_wrong[answer.check]

    return [pytest.param(answer, id=str(answer)) for answer in filter(is_quick, bank)]


class Verdict(NamedTuple):
    """What a check says of an answer: the name of the mistake, None for a right answer, and the message."""

    mistake: str | None
    message: str


def assert_verdict(answer: Answer, seeds: range = range(1)) -> None:
    """Assert that the check's verdict is the one in the bank, and the same for any inputs."""
    answer.skip_if_command_missing()
    found = [verdict(answer, seed) for seed in seeds]
    assert [one.mistake for one in found] == [answer.mistake] * len(found), found
    assert all(answer.facts.get("says", "") in one.message for one in found), found
    if not answer.mistake:
        assert len({one.message for one in found}) == 1, found


def verdict(answer: Answer, seed: int = 0, check: Check | None = None) -> Verdict:
    """Return the verdict of the answer's check, or of `check`; what the answer registers does not stay."""
    if any(name in answer.source for name in REGISTERS):
        return in_child(_verdict, answer, seed, check)
    return _verdict(answer, seed, check)


def _verdict(answer: Answer, seed: int, check: Check | None) -> Verdict:
    lesson = _lesson(answer)
    with contextlib.chdir(lesson.solution.parent):
        arguments = check_arguments(answer)
        try:
            return Verdict(None, (check or lesson.checks()[answer.check])(*arguments, seed=seed).message)
        except CheckFailed as failed:
            return Verdict(failed.mistake, str(failed))
        finally:
            for name in [name for name in sys.modules if name.startswith(MODULE)]:
                del sys.modules[name]


def check_arguments(answer: Answer) -> list[object]:
    """Run the lesson's setup cells and the answer in a new module; return the arguments of its check."""
    module = types.ModuleType(f"{MODULE}{next(_numbers)}")
    module.get_ipython = lambda: types.SimpleNamespace(system=os.system)
    sys.modules[module.__name__] = module
    setup, names = _cells(_lesson(answer), answer.check)
    exec(setup, module.__dict__)
    exec(compile(answer.source, str(answer), "exec"), module.__dict__)
    return [module.__dict__[name] for name in names]


def _lesson(answer: Answer) -> Lesson:
    [lesson] = [lesson for lesson in LESSONS if lesson.module_name == answer.lesson]
    return lesson


@functools.cache
def _cells(lesson: Lesson, check: str) -> tuple[types.CodeType, list[str]]:
    """Return the compiled setup cells, and the names that the check's cell passes to it."""
    notebooks = [read(one.solution) for one in (lesson, *OPTIONAL) if one.name == lesson.name]
    call = re.compile(rf"{lesson.module_name}\.{check}\((.*)\)")
    [(notebook, found)] = [
        (notebook, found)
        for notebook in notebooks
        for cell in code_cells(notebook)
        if (found := call.fullmatch(cell.source))
    ]
    setup = [cell.source for cell in code_cells(notebook) if "setup" in cell.metadata.get("tags", [])]
    return compile("\n".join(setup), "setup", "exec"), found[1].split(", ")

"""Judge the bank's answers in this process, as in a student's notebook and without nbgrader."""

import contextlib
import functools
import importlib
import itertools
import os
import re
import sys
import types
from pathlib import Path
from typing import NamedTuple

import nbformat

from course_utils.checks.core import Check, CheckFailed
from course_utils.system import in_child
from grading.answers.bank import Answer

SOLUTIONS = Path(__file__).parents[2] / "solutions"
# What an answer registers with the interpreter outlives it: it is judged in a process that ends afterwards.
REGISTERS = ("register_at_fork", "addaudithook", "atexit")
MODULE = "answer_of_the_bank_"
_numbers = itertools.count()


class Verdict(NamedTuple):
    """What a check says of an answer: the name of the mistake, None for a right answer, and the message."""

    mistake: str | None
    message: str


def verdict(answer: Answer, seed: int = 0, check: Check | None = None) -> Verdict:
    """Return the verdict of the answer's check, or of `check`; what the answer registers does not stay."""
    if any(name in answer.source for name in REGISTERS):
        return in_child(_verdict, answer, seed, check)
    return _verdict(answer, seed, check)


def _verdict(answer: Answer, seed: int, check: Check | None) -> Verdict:
    checks = importlib.import_module(f"course_utils.checks.{answer.lesson}")
    with contextlib.chdir(_folder(answer.lesson)):
        arguments = check_arguments(answer)
        try:
            return Verdict(None, (check or getattr(checks, answer.check))(*arguments, seed=seed).message)
        except CheckFailed as failed:
            return Verdict(failed.mistake, str(failed))
        finally:
            for name in [name for name in sys.modules if name.startswith(MODULE)]:
                del sys.modules[name]


def check_arguments(answer: Answer) -> list[object]:
    """Run the lesson's setup cells and the answer in a new module; return the arguments of its check."""
    module = types.ModuleType(f"{MODULE}{next(_numbers)}")
    module.__dict__["get_ipython"] = lambda: types.SimpleNamespace(system=os.system)
    sys.modules[module.__name__] = module
    setup, names = _cells(answer.lesson, answer.check)
    exec(setup, module.__dict__)
    exec(compile(answer.source, str(answer), "exec"), module.__dict__)
    return [module.__dict__[name] for name in names]


def _folder(lesson: str) -> Path:
    [folder] = SOLUTIONS.glob(f"[0-9][0-9]_{lesson}")
    return folder


@functools.cache
def _cells(lesson: str, check: str) -> tuple[types.CodeType, list[str]]:
    """Return the compiled setup cells, and the names that the check's cell passes to it."""
    call = re.compile(rf"{lesson}\.{check}\((.*)\)")
    notebooks = [nbformat.read(path, as_version=4) for path in SOLUTIONS.glob(f"*/[0-9][0-9]_{lesson}.ipynb")]
    code = [[cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in notebooks]
    [(cells, found)] = [
        (cells, found) for cells in code for cell in cells if (found := call.fullmatch(cell.source))
    ]
    setup = [cell.source for cell in cells if "setup" in cell.metadata.get("tags", [])]
    return compile("\n".join(setup), "setup", "exec"), found[1].split(", ")

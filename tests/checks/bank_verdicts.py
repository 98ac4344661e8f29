"""Check the bank's answers in this process, as in a student's notebook and without nbgrader."""

import contextlib
import functools
import itertools
import os
import re
import sys
import types

from course_utils.checks.core.check import CheckFailed, CheckPassed
from tests.bank import Answer
from tests.lessons.lesson import LESSONS, Lesson, code_cells, graded, read

_numbers = itertools.count()


def assert_verdict(answer: Answer, seeds: range = range(1)) -> None:
    """Assert that the check's verdict is the one in the bank, and the same for any inputs."""
    answer.skip_if_command_missing()
    verdicts = [verdict(answer, seed) for seed in seeds]
    if answer.mistake:
        mistakes = [getattr(one, "mistake", None) for one in verdicts]
        assert mistakes == [answer.mistake] * len(verdicts), verdicts
    else:
        assert all(isinstance(one, CheckPassed) for one in verdicts), verdicts
        assert len({one.message for one in verdicts}) == 1, verdicts


def verdict(answer: Answer, seed: int = 0) -> CheckPassed | CheckFailed:
    lesson = _lesson(answer)
    with contextlib.chdir(lesson.solution.parent):
        arguments = check_arguments(answer)
        try:
            return lesson.checks()[answer.check](*arguments, seed=seed)
        except CheckFailed as failed:
            return failed


def check_arguments(answer: Answer) -> list[object]:
    """Run the lesson's setup cells and the answer in a new module; return the arguments of its check."""
    module = types.ModuleType(f"answer_{next(_numbers)}")
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
    """Return the compiled setup cells, and the names that the graded cell passes to the check."""
    notebook = read(lesson.solution)
    setup = [cell.source for cell in code_cells(notebook) if "setup" in cell.metadata.get("tags", [])]
    names = re.search(rf"\.{check}\((.*)\)", graded(notebook)[check].source)[1]
    return compile("\n".join(setup), "setup", "exec"), names.split(", ")

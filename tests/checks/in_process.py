"""The verdicts on the bank's answers in this process, as in a student's notebook and without nbgrader."""

import contextlib
import functools
import itertools
import os
import re
import sys
import types

from course_utils.checks.core.check import CheckFailed, Verdict
from tests.bank import Answer
from tests.lessons.lesson import LESSONS, Lesson, code_cells, graded, read

_numbers = itertools.count()


def judge(answer: Answer, seeds: range = range(1)) -> None:
    """Assert that the check says the same of an answer with any inputs, and calls its mistake by its name."""
    answer.skip_without_its_command()
    said = [verdict(answer, seed) for seed in seeds]
    if answer.mistake:
        assert [getattr(one, "mistake", None) for one in said] == [answer.mistake] * len(said), said
    else:
        assert all(isinstance(one, Verdict) for one in said), said
        assert len({one.sentence for one in said}) == 1, said


def verdict(answer: Answer, seed: int = 0) -> Verdict | CheckFailed:
    lesson = _lesson(answer)
    with contextlib.chdir(lesson.solution.parent):
        handed_over = handed_to_the_check(answer)
        try:
            return lesson.checks()[answer.check](*handed_over, seed=seed)
        except CheckFailed as failed:
            return failed


def handed_to_the_check(answer: Answer) -> list[object]:
    """Run the lesson's setup cells and the answer in a module of its own; return what its check is given."""
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
    """What runs before any answer, and the names that the graded cell hands over."""
    notebook = read(lesson.solution)
    setup = [cell.source for cell in code_cells(notebook) if "setup" in cell.metadata.get("tags", [])]
    names = re.search(rf"\.{check}\((.*)\)", graded(notebook)[check].source)[1]
    return compile("\n".join(setup), "setup", "exec"), names.split(", ")

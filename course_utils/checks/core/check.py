"""A check: the probe runs beside the student's code, the judge knows the truth.

In a notebook both run in the kernel. When grading, `make` and `judge` run on the teacher's side and
only `probe` runs beside the student's code; plain data passes between them (see `evidence`).
"""

import sys
import sysconfig
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from course_utils.checks.core import evidence

# Files of Python, of installed packages and of this package: no line of a student's stands there.
NOT_THEIRS = (
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    str(Path(__file__).parents[2]),
    "<frozen",
)
Inputs = dict[str, Any]
Truth = Any
Evidence = Any


class Mistake(Exception):  # noqa: N818 - the student's, not the program's
    """What a judge found wrong.

    Args:
        name: Short and stable, such as ``labels_by_position``; teachers count mistakes by it.
        message: What is wrong and what to do next, for the student.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message


class CheckFailed(AssertionError):  # noqa: N818 - reads as a verdict in the student's notebook
    """The verdict on an answer that is not right yet."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(mistake.message)
        self.mistake = mistake.name

    def _render_traceback_(self) -> list[str]:
        # IPython shows this in place of a traceback: the message is what the student needs.
        return [f"✗ {self}   [{self.mistake}]"]


@dataclass(frozen=True)
class Verdict:
    """The verdict on a right answer; a notebook shows its sentence."""

    sentence: str

    def __repr__(self) -> str:
        return f"✓ {self.sentence}"

    def _ipython_display_(self) -> None:
        # Not as the cell's value: nbgrader takes that for a number of points, and warns.
        sys.stdout.write(f"{self}\n")


@dataclass(frozen=True)
class Check:
    """One exercise's check.

    Args:
        make: Draws ``(inputs, truth)`` from a generator. The inputs are plain data for the probe; the truth
            stays with the judge.
        probe: ``probe(inputs, *answers)`` does things with the student's answers and returns plain data.
        judge: ``judge(truth, evidence)`` returns a sentence about what is right or raises `Mistake`.
        outside: ``outside(truth, opened)`` raises `Mistake` where ``inputs["files"]`` were opened too often.
            When grading, the kernel counts that out of reach of a student's code (see `grading.given`), and
            the probe gets the name of their folder in place of the files; in a notebook nobody looks.
    """

    make: Callable[[np.random.Generator], tuple[Inputs, Truth]]
    probe: Callable[..., Evidence]
    judge: Callable[[Truth, Evidence], str]
    outside: Callable[[Truth, dict[str, int]], None] | None = None

    @classmethod
    def from_module(cls, module: ModuleType) -> "Check":
        """Build a check from the functions of a module.

        Raises:
            AttributeError: ``make``, ``probe`` or ``judge`` is missing; the message names the module and them.
        """
        missing = [name for name in ("make", "probe", "judge") if not callable(getattr(module, name, None))]
        if missing:
            raise AttributeError(f"{module.__name__} must define {', '.join(missing)}: every check does")
        return cls(module.make, module.probe, module.judge, getattr(module, "outside", None))

    def __call__(self, *answers: object, seed: int = 0) -> Verdict:
        """Check the answers here and now.

        Raises:
            CheckFailed: The answer is not right; the message names the mistake.
        """
        inputs, truth = self.make(np.random.default_rng(seed))
        data = self.examine(evidence.encode(inputs), *answers)
        try:
            return Verdict(self.verdict(truth, data))
        except Mistake as mistake:
            raise CheckFailed(mistake) from None

    def examine(self, inputs: bytes, *answers: object) -> bytes:
        """Run the probe on encoded inputs and return encoded evidence, also of a crash in the answers."""
        try:
            return evidence.encode({"evidence": self.probe(evidence.decode(inputs), *answers)})
        except Exception as error:
            return evidence.encode({"crash": crash_report(error)})

    def verdict(self, truth: Truth, data: bytes) -> str:
        """Judge encoded evidence.

        Raises:
            Mistake: The answer is not right.
        """
        try:
            found = evidence.decode(data)
        except evidence.DamagedEvidenceError as error:
            raise Mistake("no_evidence", f"The answer left nothing that can be judged: {error}.") from error
        if not isinstance(found, dict) or found.keys() not in ({"evidence"}, {"crash"}):
            raise Mistake("no_evidence", "The answer left nothing that can be judged.")
        if "crash" in found:
            raise Mistake("crash", f"Your code stopped with an error: {found['crash']}")
        return _judged(self.judge, truth, found["evidence"])


def _judged(judge: Callable[[Truth, Evidence], str], truth: Truth, found: Evidence) -> str:
    try:
        return judge(truth, found)
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        # Evidence of the wrong form is the answer's fault: no probe of ours returns it.
        raise Mistake("no_evidence", f"The answer left evidence of another form: {error!r}.") from error


def crash_report(error: BaseException) -> str:
    """One line for the student: the error, and the line of theirs that raised it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(NOT_THEIRS)]
    line = f": {frames[-1].line}" if frames and frames[-1].line else ""
    where = f" (in line {frames[-1].lineno} of {frames[-1].name}{line})" if frames else ""
    return f"{type(error).__name__}: {str(error)[:500]}{where}"

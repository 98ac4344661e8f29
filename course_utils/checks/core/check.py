"""Check one exercise: a probe runs the student's code, and a judge compares what it did with the truth.

In a notebook both run in the kernel. When grading, `make` and `judge` run outside the sandbox, and only
`probe` runs inside it, beside the student's code; plain data passes between them (see `evidence`). What the
student's code must not be able to forge lives in the check's world, outside the sandbox too.
"""

import contextlib
import importlib
import pkgutil
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from textwrap import fill
from types import ModuleType
from typing import Any, Generic, TypedDict, TypeVar, get_type_hints

import numpy as np

from course_utils.checks.core import evidence
from course_utils.checks.core.student_output import each_line_once
from course_utils.checks.world.handle import Handle
from course_utils.checks.world.server import open_world
from course_utils.checks.world.state import BaseWorld
from course_utils.system import LIBRARY_PREFIXES, threads_of_cells

NO_ANSWER = "no_answer_found"  # the name of the mistake where no cell defines what the check asks for
NOT_WRITTEN_YET = "not_written_yet"  # the name of the mistake in an answer cell as it was released
_WHERE = " (in line "  # begins the line of code in the report of a crash
_UNSOLVED = "NotImplementedError()"  # begins the report of a crash in such a cell
DIFFERS_BY_PROCESS = (
    "two processes got different results for the same arguments. The ranks of a job, and the job that goes "
    "on tomorrow, are processes of their own. Each has another hash() of a text, and with it another order "
    "of a set of texts, another os.getpid() and id(); each draws anew what a cell draws when it runs, and "
    "finds other files in /tmp. Compute the result from the arguments alone; sort what comes out of a set."
)
MAX_ERROR = 500  # characters
LINE_WIDTH = 76  # characters: narrower than a notebook in a window of 800 pixels, or the formgrader
Inputs = dict[str, Any]
Truth = Any
Evidence = Any
T = TypeVar("T")


class Mistake(Exception):  # noqa: N818 - the student's, not the program's
    """A student's mistake, as a judge found it.

    Args:
        name: A short and stable name, such as ``labels_by_position``; teachers count mistakes by it.
        message: What is wrong and what to do next, for the student.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message

    def add(self, sentence: str) -> None:
        """Add to the message."""
        self.message += sentence
        self.args = (self.message,)


def wrap(text: str) -> str:
    """Break a verdict into lines between words: JupyterLab and nbgrader break anywhere, or not at all."""
    lines = text.split("\n")
    return "\n".join(fill(line, LINE_WIDTH, break_long_words=False, break_on_hyphens=False) for line in lines)


class CheckFailed(AssertionError):  # noqa: N818 - reads as a verdict in the student's notebook
    """The verdict on a wrong answer; a notebook shows its message in place of a traceback."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(mistake.message)
        self.mistake = mistake.name

    def _render_traceback_(self) -> list[str]:
        # Called by IPython.
        return [wrap(f"✗ {self}   [{self.mistake}]")]


@dataclass(frozen=True)
class CheckPassed:
    """The verdict on a right answer; a notebook prints its message."""

    message: str

    def __repr__(self) -> str:
        return wrap(f"✓ {self.message}")

    def _ipython_display_(self) -> None:
        # Printed, not displayed as the cell's value: nbgrader would take that for points, and warn.
        sys.stdout.write(f"{self}\n")


@dataclass(frozen=True)
class Check:
    """The check of one exercise.

    Args:
        make: ``make(rng)`` draws ``(inputs, truth)``. The inputs are plain data for the probe; the truth is
            for the judge alone.
        probe: ``probe(inputs, *answers)`` exercises the student's answers and returns plain data of the type
            that its annotation declares. With a world it is ``probe(inputs, handle, *answers)``.
        judge: ``judge(truth, evidence)`` returns a sentence about what is right, or raises `Mistake`. With a
            world it is ``judge(truth, evidence, world)``, and reads the world's record.
        world: ``world(truth)`` makes the world that the probe asks through its handle; None without one.
        stable: ``stable(truth, evidence)``, with a world ``stable(truth, evidence, world)``, returns as plain
            data what the judge sees and what must be the same in another process with the same inputs. Only
            grading asks in two processes: a notebook cannot start another Python with its cells.
    """

    make: Callable[[np.random.Generator], tuple[Inputs, Truth]]
    probe: Callable[..., Evidence]
    judge: Callable[..., str]
    world: Callable[[Truth], BaseWorld] | None = None
    stable: Callable[..., Evidence] | None = None

    @cached_property
    def evidence_type(self) -> Any:  # noqa: ANN401 - any type
        """What the probe returns, by its annotation: a judge never sees evidence of another type."""
        return get_type_hints(self.probe).get("return", Any)

    @classmethod
    def from_module(cls, module: ModuleType) -> "Check":
        """Build a check from the functions of a module.

        Raises:
            AttributeError: ``make``, ``probe`` or ``judge`` is missing; the message names the module too.
        """
        missing = [name for name in ("make", "probe", "judge") if not callable(getattr(module, name, None))]
        if missing:
            raise AttributeError(
                f"{module.__name__} must define {', '.join(missing)}, as every check module does"
            )
        more = (getattr(module, name, None) for name in ("World", "stable"))
        return cls(module.make, module.probe, module.judge, *more)

    def __call__(self, *answers: object, seed: int = 0) -> CheckPassed:
        """Check the answers in this process.

        Raises:
            CheckFailed: The answer is wrong; the message says what and what to do next.
        """
        inputs, truth = self.make(np.random.default_rng(seed))
        world = self.world(truth) if self.world else None
        with each_line_once(), open_world(world) if world else contextlib.nullcontext() as handle:
            data = self.run_probe(evidence.encode(inputs), *answers, handle=handle)
        try:
            return CheckPassed(self.verdict(truth, data, world))
        except Mistake as mistake:
            raise CheckFailed(mistake) from None

    def run_probe(self, inputs: bytes, *answers: object, handle: Handle | None = None) -> bytes:
        """Run the probe on encoded inputs; return its encoded evidence, or the report of a crash."""
        handles = () if handle is None else (handle,)
        try:
            left = threads_of_cells()
            threads = {"threads": left} if left else {}
            found = self.probe(evidence.decode(inputs), *handles, *answers)
            return evidence.encode({"evidence": found, **threads})
        except Exception as error:
            return evidence.encode({"crash": crash_report(error)})

    def verdict(
        self,
        truth: Truth,
        data: bytes,
        world: BaseWorld | None = None,
        earlier: tuple[bytes, BaseWorld | None] | None = None,
    ) -> str:
        """Judge encoded evidence and the record of the world; return a sentence about what is right.

        Args:
            truth: The truth about the inputs.
            data: What `run_probe` returned.
            world: The world that the probe asked.
            earlier: The evidence and the world of another process with the same inputs, which were right.

        Raises:
            Mistake: The answer is wrong, or the evidence is malformed.
        """
        if world is not None and world.overloaded:
            message = "Your code asked the check for data far too often. Is there an endless loop?"
            raise Mistake("too_many_operations", message)
        try:
            found: _Found[Evidence] = evidence.decode(data, _Found[self.evidence_type])  # type: ignore[name-defined]
        except evidence.DamagedEvidenceError as error:
            message = f"The check got no readable data from your answer: {str(error)[:MAX_ERROR]}."
            raise Mistake("no_evidence", message) from error
        if "missing" in found:
            name = found["missing"][:100]
            message = f"No answer was found: no cell defines `{name}`. Was its cell deleted or renamed?"
            raise Mistake(NO_ANSWER, message)
        if "crash" in found:
            raise mistake_of_crash(found["crash"][: 2 * MAX_ERROR])
        if "evidence" not in found:
            raise Mistake("no_evidence", "The check got no data from your answer.")
        try:
            sentence = self.judge(truth, found["evidence"], *([] if world is None else [world]))
            if earlier is not None and self._stable(truth, *earlier) != self._stable(truth, data, world):
                raise Mistake("differs_by_process", DIFFERS_BY_PROCESS)
            return sentence
        except Mistake as mistake:
            threads = found.get("threads")
            if threads and mistake.name != NOT_WRITTEN_YET:
                mistake.add(
                    f" While the check ran, a thread of another cell was running ({threads[0][:99]}) and may "
                    "be the reason: end it, or wait for its end (join), before the check."
                )
            raise
        except Exception as error:
            # Evidence has the declared type, so its values are what no measurement gives, such as no seconds.
            message = (
                f"The check cannot judge the data that it got from your answer: {str(error)[:MAX_ERROR]!r}."
            )
            raise Mistake("no_evidence", message) from error

    def _stable(self, truth: Truth, data: bytes, world: BaseWorld | None) -> bytes:
        """Return, encoded, what must be the same in each process."""
        if self.stable is None:
            return b""
        found: _Found[Evidence] = evidence.decode(data, _Found[self.evidence_type])  # type: ignore[name-defined]
        return evidence.encode(self.stable(truth, found["evidence"], *([] if world is None else [world])))


def find_checks(package: str) -> dict[str, Check]:
    """Import all modules of a lesson's package and build a check from each.

    Args:
        package: The lesson's package, such as ``course_utils.checks.jpeg_vs_zip``. Each module in it defines
            ``make``, ``probe`` and ``judge``, and may define ``stable`` and a class ``World`` (see `Check`).

    Returns:
        The checks by module name, in alphabetical order.

    Raises:
        AttributeError: A module lacks one of the three functions; the message names both.
    """
    path = importlib.import_module(package).__path__
    names = sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))
    return {name: Check.from_module(importlib.import_module(f"{package}.{name}")) for name in names}


class _Found(TypedDict, Generic[T], total=False):
    crash: str
    missing: str
    evidence: T
    threads: list[str]


def is_unsolved(report: str) -> bool:
    """Return whether a `crash_report` is that of an answer cell as it was released."""
    return report.startswith(_UNSOLVED)


def mistake_of_crash(report: str) -> Mistake:
    """Return what to tell a student whose code raised an exception, given its `crash_report`."""
    if is_unsolved(report):
        message = (
            "This exercise is not solved yet: replace `raise NotImplementedError()` with your code and run "
            "that cell. While it shows an error, the old code stays in place."
        )
        return Mistake(NOT_WRITTEN_YET, message)
    return Mistake("crash", f"Your code stopped with an error: {report}")


def crash_report(error: BaseException) -> str:
    """Return one line for the student: the error, and which line of their code raised it."""
    every = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in every if not frame.filename.startswith(LIBRARY_PREFIXES)]
    line = f": {frames[-1].line}" if frames and frames[-1].line else ""
    where = f"{_WHERE}{frames[-1].lineno} of {frames[-1].name}{line})" if frames else ""
    name = _UNSOLVED if _is_stub(error, every[-1:] == frames[-1:]) else type(error).__name__
    return f"{name}: {_in_one_line(str(error))}{where}"


def error_in(report: str) -> str:
    """Return the error of a `crash_report`, without the line of code, whose words say nothing of it."""
    return report.rpartition(_WHERE)[0] or report


def _is_stub(error: BaseException, raised_by_student: bool) -> bool:
    """Return whether a released stub raised an error: libraries raise `NotImplementedError` as well."""
    if not isinstance(error, NotImplementedError):
        return False
    text = str(error).strip()  # that of a `DataLoader` worker ends with the error there
    return text.endswith("\nNotImplementedError") if text else raised_by_student


def _in_one_line(text: str, limit: int = 500) -> str:
    """Leave out the middle of a long message: the error of a `DataLoader` worker is its last line."""
    lines = text.strip().splitlines()
    short = f"{lines[0]} ... {lines[-1]}" if len(lines) > 2 else " ".join(lines)
    return short if len(short) <= limit else f"{short[: limit // 2]} ... {short[-limit // 2 :]}"

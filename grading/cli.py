"""The teacher's commands, such as `python -m grading grade`; `--help` lists them."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path

from sqlalchemy.exc import DBAPIError
from tqdm import tqdm

from course_utils.exchange.explicit_root import NoExchangeError, has_exchange, require_exchange
from course_utils.system import usable_cores
from grading import workflow
from grading.course.config import Course, course_at
from grading.course.installed_copy import MixedVersionsError, require_same_version
from grading.course.lock import course_lock
from grading.nbgrader_plugins import deadlines, feedback, marks_table
from grading.scoring import local, regrade, report, similar_answers, slurm

MAX_SHOWN = 10
Command = Callable[[Course, list[str], argparse.Namespace], int]


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    options = _parser().parse_args(arguments)
    command: Command = options.run
    course = course_at(options.course)
    lessons = [options.lesson] if options.lesson else course.lessons()
    unknown = [lesson for lesson in lessons if lesson not in course.lessons()]
    if unknown or not lessons:
        return _print(f"There is no lesson {', '.join(unknown)} in {course.root}.", error=True)
    try:
        with course_lock(course.results.folder, options.locks, _print) if options.locks else nullcontext():
            return command(course, lessons, options)
    except (slurm.ArrayRefusedError, deadlines.DeadlineError, MixedVersionsError, NoExchangeError) as refusal:
        return _print(str(refusal), error=True)
    except DBAPIError as error:
        return _print(_gradebook_problem(course, error), error=True)
    except OSError as error:
        return _print(f"{error}\nThe results so far are kept; the same command continues.", error=True)


def _gradebook_problem(course: Course, error: DBAPIError) -> str:
    reason = str(error.orig)
    advice = "The results so far are kept; repair it or take it from a backup."
    if "locked" in reason:
        advice = "Another program uses it. The results so far are kept; the same command continues."
    elif "no such" in reason:
        advice = "An older nbgrader has written it: nbgrader db upgrade"
    elif "full" in reason or "readonly" in reason or "unable to open" in reason:
        advice = "Its disk is full, or this account may not write it. The same command continues."
    return f"The gradebook {course.directory.db_url} cannot be used: {reason}. {advice}"


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--course", type=Path, default=Path(), help="folder with nbgrader_config.py (default: here)"
    )
    common.add_argument("--lesson", default="", help="one lesson, such as 01_jpeg_vs_zip (default: all)")
    common.add_argument("--student", default="", help="one student's id (default: all)")
    parser = argparse.ArgumentParser(prog="python -m grading", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Command, text: str, locks: bool = True) -> argparse.ArgumentParser:
        parser = commands.add_parser(name, parents=[common], help=text, description=text)
        parser.set_defaults(run=run, locks=name if locks else "")
        return parser

    command("collect", _collect, "Fetch submissions from nbgrader's exchange.")
    grade = command("grade", _grade, "Grade new and changed submissions in a sandbox; write the gradebook.")
    grade.add_argument(
        "--jobs",
        type=int,
        default=usable_cores(),
        help="submissions to run in parallel, at most one a core (default: %(default)s)",
    )
    grade.add_argument("--slurm", action="store_true", help="run as a Slurm job array of --jobs jobs")
    grade.add_argument(
        "--sbatch", default="", help="more options for sbatch, such as '--partition=rome --time=30'"
    )
    grade.add_argument("--sandbox", default="", help="auto, bwrap (bubblewrap), or none (no protection)")
    grade.add_argument(
        "--write",
        action="store_true",
        help="write the marks that a regrade changes instead of only showing them",
    )
    feedback = command("feedback", _feedback, "Write each student's feedback page.")
    feedback.add_argument("--release", action="store_true", help="also copy it into nbgrader's exchange")
    export = command(
        "export", _export, "Write the marks as CSV for a learning management system.", locks=False
    )
    export.add_argument(
        "--for",
        dest="form",
        choices=marks_table.FORMS,
        default="plain",
        help="the system whose import reads the columns (default: %(default)s, all that is known)",
    )
    export.add_argument("--to", type=Path, default=Path("marks.csv"), help="the file (default: %(default)s)")
    command("report", _report, "Show the report of all stored results.", locks=False)
    command("similar", _similar, "Show who shares an answer, side by side; no effect on marks.", locks=False)
    progress = command(
        "progress", _progress, "Collect, grade, and show without names what a class is stuck on.", locks=False
    )
    progress.add_argument(
        "--every", type=float, default=0.0, metavar="SECONDS", help="repeat until Ctrl-C (default: once)"
    )
    return parser


def _print(text: str, error: bool = False) -> int:
    # A name or a message of a student may hold what this terminal cannot show.
    stream = sys.stderr if error else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(f"{text}\n".encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()  # into a pipe, too: grading takes minutes
    return 1 if error else 0


def _collect(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    require_exchange(course.config)
    failed = 0
    for lesson in lessons:
        failed += _nbgrader(course, "collect", lesson, "--update")
        _print(f"{lesson}: {len(workflow.submissions(course, [lesson], options.student))} submissions")
    return min(failed, 1)


def _nbgrader(course: Course, *arguments: str) -> int:
    command = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(command, cwd=course.root, check=False, stdin=subprocess.DEVNULL).returncode


def _grade(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    if options.sandbox:
        course.grading.sandbox = options.sandbox
    tasks = workflow.submissions(course, lessons, options.student)
    misplaced = course.misplaced_submissions()
    if misplaced:
        shown = ", ".join(repr(name) for name in misplaced[:MAX_SHOWN])
        more = f" and {len(misplaced) - MAX_SHOWN} more" if len(misplaced) > MAX_SHOWN else ""
        _print(f"Not graded, because only submitted/<student>/<lesson>/ is: {shown}{more}", error=True)
    if not tasks:
        return _print(
            f"Nothing to grade: no submissions in {course.submitted}. Collect them first: make collect"
        )
    _print(f"{len(tasks)} submissions: reading them, then running those that are new or have changed.")
    require_same_version()
    runner = partial(slurm.run_all, options=options.sbatch) if options.slurm else local.run_all
    outcome = workflow.grade(course, tasks, max(1, options.jobs), options.write, runner)
    course.results.folder.mkdir(parents=True, exist_ok=True)
    text = report.full(outcome.found)
    (course.results.folder / workflow.REPORT).write_text(text, errors="backslashreplace")
    _print(f"\n{report.summary(outcome.found)}\n\nPoints by exercise\n{report.histogram(outcome.found)}")
    if text := report.term(outcome.found, course.grading.weights):
        _print(f"\n{text}")
    _print(f"\nMost frequent mistakes\n{report.mistakes(outcome.found)}")
    _print(f"\nDamaged, tampered with, suspicious\n{report.findings(outcome.found)}")
    if text := report.versions(outcome.found):
        _print(f"\nNotebooks of other versions\n{text}")
    if text := report.deadlines(
        deadlines.late_work(course, lessons), deadlines.not_submitted(course, lessons)
    ):
        _print(f"\nLate and missing\n{text}")
    if outcome.pending:
        _print("\nThese marks would change. They are not written; use --write to write them.")
        _print(regrade.preview(outcome.pending))
    if outcome.no_sandbox:
        _print(f"\nNew and changed submissions were not graded. {outcome.no_sandbox}", error=True)
    for refusal in outcome.refused:
        _print(f"No mark: {refusal}", error=True)
    for fault in outcome.faults:
        _print(f"No mark, because the grader failed: {fault}", error=True)
    written = f"{len(outcome.written)} of {len(tasks)} submissions written to the gradebook"
    _print(f"\n{written}; the others were up to date or have no new mark.")
    return 1 if outcome.faults or outcome.refused or outcome.no_sandbox else 0


def _feedback(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    if options.release:
        require_exchange(course.config)
    failed = 0
    for lesson in lessons:
        tasks = feedback.graded_submissions(course, lesson, options.student)
        if not tasks:
            _print(f"{lesson}: nothing has been graded.")
            continue
        written, outcome = [], workflow.Outcome()
        for task in tqdm(tasks, f"feedback {lesson}", file=sys.stdout, unit="student"):
            with outcome.isolate(task):
                written.append(feedback.write_feedback(course, task))
        for fault in outcome.faults:
            failed += _print(f"No feedback page: {fault}", error=True)
        _print(f"{lesson}: {len(written)} pages{', such as ' + str(written[-1]) if written else ''}")
        if options.release:
            failed += _nbgrader(course, "release_feedback", lesson)
    return min(failed, 1)


def _export(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    rows = marks_table.export_marks(course, lessons, options.student, options.to, options.form)
    return _print(f"{rows} students in {options.to}")


def _progress(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    require_same_version()
    while True:
        with course_lock(course.results.folder, "progress", _print):
            if has_exchange(course.config):
                for lesson in lessons:
                    _nbgrader(course, "collect", lesson, "--update", "--log-level=ERROR")
            tasks = workflow.submissions(course, lessons, options.student)
            outcome = workflow.grade(course, tasks, usable_cores())
        _print(f"\n{datetime.now():%H:%M}\n{report.progress(outcome.found)}")
        for fault in outcome.faults:
            _print(f"No mark, because the grader failed: {fault}", error=True)
        if not options.every:
            return 1 if outcome.faults else 0
        time.sleep(options.every)


def _similar(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    found = []
    for lesson in lessons:
        results = [course.results.read(task) for task in workflow.submissions(course, [lesson], "")]
        graded = [result for result in results if result is not None]
        text = similar_answers.report_of(course.lesson(lesson), graded, options.student)
        found += [f"{lesson}\n{text}"] if text else []
    return _print("\n\n".join(found) or "No two students share an answer that few others wrote.")


def _report(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    tasks = workflow.submissions(course, lessons, options.student)
    results = (course.results.read_summary(task) for task in tasks)
    found = [result for result in results if result is not None]
    return _print(report.full(found) if found else "Nothing has been graded yet.")

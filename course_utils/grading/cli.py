"""The teacher's commands: `python -m course_utils.grading collect|grade|feedback|export|report`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from functools import partial
from pathlib import Path

from tqdm import tqdm

from course_utils.grading import workflow
from course_utils.grading.course import Course, course_at, read
from course_utils.grading.nbgrader_plugins import feedback
from course_utils.grading.sandbox import backends
from course_utils.grading.scoring import local, regrade, report, slurm
from course_utils.system import usable_cores


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; returns the exit status."""
    options = _parser().parse_args(arguments)
    course = course_at(options.course)
    lessons = [options.lesson] if options.lesson else course.lessons()
    unknown = [lesson for lesson in lessons if lesson not in course.lessons()]
    if unknown or not lessons:
        return _say(f"There is no lesson {', '.join(unknown)} in {course.root}.", error=True)
    try:
        return options.run(course, lessons, options)
    except (backends.NoSandboxError, slurm.ArrayRefusedError) as refusal:
        return _say(str(refusal), error=True)


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--course", type=Path, default=Path(), help="folder with nbgrader_config.py (default: here)"
    )
    common.add_argument("--lesson", default="", help="one lesson, such as 01_jpeg_vs_zip (default: all)")
    common.add_argument("--student", default="", help="one student's id (default: all)")
    parser = argparse.ArgumentParser(prog="python -m course_utils.grading", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: object, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, parents=[common], help=text, description=text)
        made.set_defaults(run=run)
        return made

    command("collect", _collect, "Fetch what students handed in from nbgrader's exchange.")
    grade = command(
        "grade", _grade, "Run what is new or changed in a sandbox, judge it, write the gradebook."
    )
    grade.add_argument(
        "--jobs", type=int, default=usable_cores(), help="how many run at once (default: %(default)s)"
    )
    grade.add_argument("--slurm", action="store_true", help="run as a Slurm job array of --jobs jobs")
    grade.add_argument(
        "--sbatch", default="", help="more options for sbatch, such as '--partition=rome --time=30'"
    )
    grade.add_argument(
        "--sandbox", default="", help="auto, bwrap, apptainer, namespaces, or none (no protection)"
    )
    grade.add_argument(
        "--write", action="store_true", help="write marks that a regrade changes, not only show them"
    )
    feedback = command("feedback", _feedback, "Write each student's feedback page.")
    feedback.add_argument("--release", action="store_true", help="also put it into nbgrader's exchange")
    export = command("export", _export, "Write the marks as a CSV for a learning management system.")
    export.add_argument("--to", type=Path, default=Path("marks.csv"), help="the file (default: %(default)s)")
    command("report", _report, "Show again what `grade` showed at its end.")
    return parser


def _say(text: str, error: bool = False) -> int:
    (sys.stderr if error else sys.stdout).write(f"{text}\n")
    return 1 if error else 0


def _collect(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    failed = 0
    for lesson in lessons:
        failed += _nbgrader(course, "collect", lesson, "--update")
        _say(
            f"{lesson}: {len(workflow.submissions(course, [lesson], options.student))} submissions are here."
        )
    return min(failed, 1)


def _nbgrader(course: Course, *arguments: str) -> int:
    command = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(command, cwd=course.root, check=False, stdin=subprocess.DEVNULL).returncode


def _grade(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    if options.sandbox:
        course.grading.sandbox = options.sandbox
    backends.choose(course.grading.sandbox)
    tasks = workflow.submissions(course, lessons, options.student)
    runner = partial(slurm.run_all, options=options.sbatch) if options.slurm else local.run_all
    outcome = workflow.grade(course, tasks, max(1, options.jobs), options.write, runner)
    (course.results / workflow.REPORT).write_text(report.full(outcome.found))
    _say(f"\n{report.summary(outcome.found)}\n\nPoints by exercise\n{report.histogram(outcome.found)}")
    _say(f"\nMost frequent mistakes\n{report.mistakes(outcome.found)}")
    _say(f"\nDamaged or tampered with\n{report.oddities(outcome.found)}")
    if outcome.pending:
        _say(
            f"\nThese marks would change; nothing of them is written yet.\n{regrade.preview(outcome.pending)}"
        )
        _say("Write them with --write.")
    for fault in outcome.faults:
        _say(f"No mark, because the grader failed: {fault}", error=True)
    written = f"{len(outcome.written)} of {len(tasks)} submissions written to the gradebook"
    _say(f"\n{written}; the others were there.")
    return 1 if outcome.faults else 0


def _feedback(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    failed = 0
    for lesson in lessons:
        students = feedback.graded(course, lesson, options.student)
        if not students:
            _say(f"{lesson}: nothing has been graded.")
            continue
        for student in tqdm(students, f"feedback {lesson}", file=sys.stdout, unit="student"):
            folder = feedback.make_feedback(course, lesson, student)
        _say(f"{lesson}: {len(students)} pages, such as {folder}")
        if options.release:
            failed += _nbgrader(course, "release_feedback", lesson)
    return min(failed, 1)


def _export(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    rows = feedback.export(course, lessons, options.student, options.to)
    return _say(f"{rows} students in {options.to}")


def _report(course: Course, lessons: list[str], options: argparse.Namespace) -> int:
    tasks = workflow.submissions(course, lessons, options.student)
    found = [result for task in tasks if (result := read(course.results, *task)) is not None]
    return _say(report.full(found) if found else "Nothing has been graded yet.")

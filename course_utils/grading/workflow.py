"""A teacher's grading from beginning to end: run what is new, preview what changes, write, report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tqdm import tqdm

from course_utils.grading.course import Course, result_store
from course_utils.grading.nbgrader_plugins import gradebook
from course_utils.grading.scoring import Task, local, provenance, regrade
from course_utils.grading.submission import tidy

RUN = ".run"
REPORT = "report.md"
Runner = Callable[[Course, list[Task], Path, int], Iterator[dict[str, Any]]]


@dataclass
class Outcome:
    """What a grading did.

    Attributes:
        found: The result of every submission.
        written: Submissions that the gradebook took now.
        pending: Old and new results that wait for the teacher's word.
        faults: Sentences about what the grader could not do.
    """

    found: list[dict[str, Any]] = field(default_factory=list)
    written: list[Task] = field(default_factory=list)
    pending: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def submissions(course: Course, lessons: list[str], student: str = "") -> list[Task]:
    """The submissions of some lessons, of one student or of all."""
    return [(lesson, who) for lesson in lessons for who in course.students(lesson) if student in ("", who)]


def grade(
    course: Course, tasks: list[Task], jobs: int, adopt: bool = False, runner: Runner = local.run_all
) -> Outcome:
    """Grades submissions; what is graded already and has not changed is left alone.

    Args:
        course: The course.
        tasks: Which submissions.
        jobs: How many run at once.
        adopt: Take changed marks of submissions that were graded before, instead of only showing them.
        runner: Runs the submissions: `work.run_all` or `slurm.run_all`.
    """
    outcome = Outcome()
    for lesson in sorted({lesson for lesson, _ in tasks}):
        gradebook.register(course, lesson)
    for lesson, student in tasks:
        tidy(course.submission_folder(student, lesson), lesson)
    stale = [task for task in tasks if not local.is_current(course, *task)]
    _run(course, stale, jobs, runner)
    for task in tasks:
        _settle(course, task, task in stale, adopt, outcome)
    unwritten = [task for task in tasks if result_store.read(course.results, *task) is not None]
    unwritten = [task for task in unwritten if not gradebook.is_written(course, *task)]
    for task in tqdm(unwritten, "gradebook", file=sys.stdout, unit="submission"):
        _write(course, task, outcome)
    return outcome


def _run(course: Course, tasks: list[Task], jobs: int, runner: Runner) -> None:
    """Runs what has no finished result yet; twice where a worker was killed."""
    folder = course.results / RUN
    for _ in range(2):
        missing = [task for task in tasks if not _is_run(course, folder, task)]
        for task in missing:
            result_store.path_of(folder, *task).unlink(missing_ok=True)
        if missing:
            folder.mkdir(parents=True, exist_ok=True)
            done = runner(course, missing, folder, jobs)
            for _ in tqdm(done, "run", total=len(missing), file=sys.stdout, unit="submission"):
                pass


def _is_run(course: Course, folder: Path, task: Task) -> bool:
    lesson, student = task
    versions = provenance(course.lesson(lesson), course.submission(student, lesson), "")
    return result_store.is_current(result_store.read(folder, lesson, student), versions)


def _settle(course: Course, task: Task, is_new: bool, adopt: bool, outcome: Outcome) -> None:
    """Moves a new result to its place, or keeps it back where it would change marks unseen."""
    lesson, student = task
    old = result_store.read(course.results, lesson, student)
    new = result_store.read(course.results / RUN, lesson, student) if is_new else old
    if new is None or new["status"] == "grader fault":
        reason = (
            "it was not run"
            if new is None
            else new["findings"][-1]["what"]
            if new["findings"]
            else "a judge failed"
        )
        outcome.faults.append(f"{lesson}  {student}: {reason}")
        return
    submitted = new["provenance"]["submission"]
    if is_new and regrade.is_regrade(old, submitted) and regrade.changes(old, new) and not adopt:
        outcome.pending.append((old, new))
        outcome.found.append(old)
        return
    if is_new:
        result_store.write(course.results, new)
        result_store.path_of(course.results / RUN, lesson, student).unlink()
    outcome.found.append(new)


def _write(course: Course, task: Task, outcome: Outcome) -> None:
    try:
        gradebook.write(course, *task)
        outcome.written.append(task)
    except gradebook.NotWrittenError as error:
        outcome.faults.append(f"{task[0]}  {task[1]}: the gradebook did not take it: {error}")

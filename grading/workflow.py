"""The grading of a class: run what is new or changed, preview changed marks, write the gradebook."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tqdm import tqdm

from grading.course.config import Course
from grading.course.result import GRADER_FAULT, Result, Summary, Task, Versions, summary_of
from grading.course.result_store import ResultStore
from grading.course.student_folder import RefusedSubmissionError
from grading.nbgrader_plugins import deadlines, gradebook
from grading.sandbox.isolation.backends import NoSandboxError
from grading.scoring import local, regrade
from grading.submission.sanitize import sanitize_folder

RUN = ".run"
REPORT = "report.md"
ATTEMPTS = 2
Runner = Callable[[Course, list[Task], ResultStore, int], Iterator[Task]]


@dataclass
class Outcome:
    """What a grading did.

    Attributes:
        found: The result of every submission.
        written: Submissions newly written to the gradebook.
        pending: Old and new results whose marks differ; the teacher must confirm them.
        faults: One sentence for each failure of the grader.
        refused: One sentence for each folder that cannot be assigned to a student.
        no_sandbox: Why new and changed submissions were not run at all; empty if they were.
    """

    found: list[Summary] = field(default_factory=list)
    written: list[Task] = field(default_factory=list)
    pending: list[tuple[Summary, Summary]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    no_sandbox: str = ""

    @contextmanager
    def isolate(self, task: Task) -> Iterator[None]:
        """Turn any exception into a fault of this submission, so that the others are graded."""
        try:
            yield
        except RefusedSubmissionError as refusal:
            self.refused.append(f"{task.lesson}: {refusal}")
        except (Exception, SystemExit) as error:  # nbgrader's applications exit
            self.faults.append(f"{task.lesson}  {task.student}: {error!r}\n{traceback.format_exc()}")


def submissions(course: Course, lessons: list[str], student: str = "") -> list[Task]:
    """Return the submissions of some lessons, of one student or of all."""
    return [
        Task(lesson, one) for lesson in lessons for one in course.students(lesson) if student in ("", one)
    ]


def grade(
    course: Course,
    tasks: list[Task],
    jobs: int,
    write_changes: bool = False,
    runner: Runner = local.run_all,
) -> Outcome:
    """Grade submissions; a result that is up to date is kept.

    Args:
        course: The course.
        tasks: Which submissions.
        jobs: How many to run in parallel.
        write_changes: Write changed marks of submissions graded before, instead of only showing them.
        runner: Runs the submissions: `local.run_all` or `slurm.run_all`.
    """
    outcome = Outcome()
    lessons = sorted({task.lesson for task in tasks})
    for lesson in lessons:
        gradebook.register(course, lesson)
    deadlines.store_due_dates(course, lessons)
    versions = _versions(course, tasks, outcome)
    stale = {task: now for task, now in versions.items() if not course.results.up_to_date(task, now)}
    runs = ResultStore(course.results.folder / RUN)
    try:
        _run(course, stale, runs, jobs, runner)
    except NoSandboxError as refusal:
        outcome.no_sandbox = str(refusal)
    settled = []
    for task in versions:
        if outcome.no_sandbox and task in stale and runs.read(task) is None:
            continue
        with outcome.isolate(task):
            if _settle(course, task, runs if task in stale else None, write_changes, outcome):
                settled.append(task)
    settings = deadlines.late_settings(course, lessons)
    unwritten = [task for task in settled if course.results.is_unwritten(task, settings.get(task, ""))]
    for task in tqdm(unwritten, "gradebook", file=sys.stdout, unit="submission"):
        with outcome.isolate(task):
            _write(course, task, settings.get(task, ""), outcome)
    return outcome


def _versions(course: Course, tasks: list[Task], outcome: Outcome) -> dict[Task, Versions]:
    """Return the present versions of all submissions that can be read, after making their folders safe."""
    versions = {}
    for task in tqdm(tasks, "read", file=sys.stdout, unit="submission"):
        with outcome.isolate(task):
            lesson = course.lesson(task.lesson)
            sanitize_folder(course.submission_folder(task), task.lesson, lesson.files(), lesson.stubs)
            versions[task] = course.versions(task)
    return versions


def _run(course: Course, stale: dict[Task, Versions], runs: ResultStore, jobs: int, runner: Runner) -> None:
    """Run what has no result in `runs` yet, and once more what is missing after a worker was killed."""
    for _ in range(ATTEMPTS):
        missing = [task for task, versions in stale.items() if not runs.up_to_date(task, versions)]
        for task in missing:
            runs.remove(task)
        if missing:
            runs.folder.mkdir(parents=True, exist_ok=True)
            done = runner(course, missing, runs, jobs)
            for _ in tqdm(done, "run", total=len(missing), file=sys.stdout, unit="submission"):
                pass


def _settle(
    course: Course, task: Task, runs: ResultStore | None, write_changes: bool, outcome: Outcome
) -> bool:
    """Move a new result from `runs` to the course's results, unless it changes marks unconfirmed.

    Returns:
        Whether the course's result is up to date now.
    """
    old = course.results.read(task)
    new = old if runs is None else runs.read(task)
    if new is None or new["status"] == GRADER_FAULT:
        outcome.faults.append(f"{task.lesson}  {task.student}: {_reason(new)}")
        return False
    if runs is not None:
        if not write_changes and regrade.is_regrade(old, new) and regrade.changes(old, new):
            outcome.pending.append((summary_of(old), summary_of(new)))
            outcome.found.append(summary_of(old))
            return False
        course.results.write(new)
        runs.remove(task)
    outcome.found.append(summary_of(new))
    return True


def _reason(result: Result | None) -> str:
    if result is None:
        return "it was not run"
    return result["findings"][-1]["what"] if result["findings"] else "a judge failed"


def _write(course: Course, task: Task, settings: str, outcome: Outcome) -> None:
    try:
        gradebook.write(course, task, settings)
        outcome.written.append(task)
    except gradebook.NotWrittenError as error:
        outcome.faults.append(f"{task.lesson}  {task.student}: the gradebook refused the result: {error}")

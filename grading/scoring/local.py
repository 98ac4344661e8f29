"""Runs submissions on this machine, in parallel; one result file each."""

from __future__ import annotations

import atexit
import logging
import multiprocessing
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from multiprocessing.queues import SimpleQueue
from pathlib import Path

from course_utils.system import die_with_parent, take_share, usable_cores
from grading.course.config import Course, course_at
from grading.course.result import GRADER_FAULT, Result, Task
from grading.course.result_store import ResultStore
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.backends import NoSandboxError
from grading.sandbox.server_process import GraderFaultError
from grading.scoring.examination import Sandboxes
from grading.scoring.scorer import fault, grade

TRIES = 2
IDLE_SECONDS = 60


class _SharedSandboxes:
    """The sandboxes of this process: starting one takes seconds, a submission in it a fraction of one."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._sandboxes: Sandboxes | None = None
        self._settings: list[str] = []
        self._timer: threading.Timer | None = None

    @contextmanager
    def lend(self, course: Course) -> Iterator[Sandboxes]:
        """Lend the sandboxes for one submission; they close when nobody has used them for `IDLE_SECONDS`."""
        values = course.grading.trait_values(config=True)
        settings = [str(course.root), *(repr(values[name]) for name in sorted(values))]
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            if self._settings != settings:
                self.close()
            if self._sandboxes is None:
                self._sandboxes = course.make_sandbox(), course.make_sandbox()
                self._settings = settings
            try:
                yield self._sandboxes
            finally:
                self._timer = threading.Timer(IDLE_SECONDS, self.close)
                self._timer.daemon = True
                self._timer.start()

    def close(self) -> None:
        """End the sandboxes."""
        with self._lock:
            for sandbox in self._sandboxes or ():
                sandbox.close()
            self._sandboxes = None


_shared_sandboxes = _SharedSandboxes()
atexit.register(_shared_sandboxes.close)


def run_one(course: Course, task: Task) -> Result:
    """Grade one submission; if the grader itself fails, in whatever way, the result says so and has no mark.

    Raises:
        NoSandboxError: No backend works on this machine, for any submission.
    """
    lesson, submission, reason = course.lesson(task.lesson), None, ""
    for _ in range(TRIES):
        try:
            submission = course.submission(task)
            with _shared_sandboxes.lend(course) as sandboxes:
                return grade(sandboxes, lesson, submission)
        except NoSandboxError:
            raise
        except (GraderFaultError, OSError) as error:
            reason = repr(error)
        except Exception as error:
            # Nothing that a student submits may end the grading of the others.
            reason = f"{error!r}\n{traceback.format_exc()}"
    return fault(lesson, task.student, submission, course.grading.sandbox, reason)


def up_to_date_result(course: Course, task: Task) -> Result:
    """Return the stored result of a submission, after grading it again if it is not up to date.

    Raises:
        GraderFaultError: The grader itself failed; there is no mark.
    """
    result = course.results.up_to_date(task, course.versions(task))
    if result is None:
        result = run_one(course, task)
        course.results.write(result)
    if result["status"] == GRADER_FAULT:
        folder = course.results.folder
        raise GraderFaultError(
            f"The grader failed on {task.student}'s {task.lesson}; see {folder}. No mark was given."
        )
    return result


def run_all(course: Course, tasks: list[Task], store: ResultStore, jobs: int) -> Iterator[Task]:
    """Grade submissions in `jobs` processes, or in this one; each writes its results itself.

    Args:
        course: The course.
        tasks: Which submissions.
        store: Where the results go.
        jobs: How many processes; at most one for each usable core, or a busy submission slows others down.

    Yields:
        Each submission when its result is stored. None follows after a worker was killed.

    Raises:
        NoSandboxError: No backend works on this machine; the message says what to do.
    """
    sandbox = backends.choose(course.grading.sandbox)
    root, folder = str(course.root), store.folder
    jobs = min(jobs, len(tasks), usable_cores())
    if jobs == 1:
        yield from (_run_and_store(root, sandbox, task, folder) for task in tasks)
        return
    context = multiprocessing.get_context("spawn")
    numbers = context.SimpleQueue()
    for number in range(jobs):
        numbers.put(number)
    with ProcessPoolExecutor(jobs, context, _start_worker, (numbers, jobs)) as pool:
        futures = [pool.submit(_run_and_store, root, sandbox, task, folder) for task in tasks]
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:
                return


def _start_worker(numbers: SimpleQueue[int], jobs: int) -> None:
    """Give this worker cores of its own, so that no submission slows down the others."""
    die_with_parent()
    take_share(numbers.get(), jobs)


@cache
def _course_at(root: str, sandbox: str) -> Course:
    course = course_at(Path(root))
    course.grading.sandbox = sandbox
    return course


def _run_and_store(root: str, sandbox: str, task: Task, folder: Path) -> Task:
    run_and_store(_course_at(root, sandbox), task, ResultStore(folder))
    return task


def run_and_store(course: Course, task: Task, store: ResultStore) -> None:
    """Grade one submission and store its result; what fails costs no other submission.

    Without a result, for example on a full disk, the workflow reports the submission as not run.

    Raises:
        NoSandboxError: No backend works on this machine, for any submission.
    """
    try:
        store.write(run_one(course, task))
    except NoSandboxError:
        raise
    except (Exception, SystemExit):
        logging.getLogger(__name__).exception("no result of %s, %s", *task)

"""Runs submissions as a Slurm job array, and is the program of its jobs.

Our own few commands over files instead of a library: results arrive in the result store, so a lost job costs
only its own submissions, and how a job ended never matters.
"""

from __future__ import annotations

import json
import shlex
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from grading.course.config import Course, course_at
from grading.course.result import Task
from grading.course.result_store import ResultStore
from grading.sandbox.isolation.backends import NoSandboxError
from grading.scoring.local import run_and_store
from grading.scoring.scorer import fault

ROUNDS = 3
POLL_S = 2.0


class ArrayRefusedError(RuntimeError):
    """sbatch refused the job array; the message is its own."""


class Share(TypedDict):
    """The submissions that one job runs, as JSON."""

    root: str
    sandbox: str
    folder: str
    tasks: list[Task]


def run_all(
    course: Course, tasks: list[Task], store: ResultStore, jobs: int, options: str = ""
) -> Iterator[Task]:
    """Run submissions as one array of `jobs` jobs, and what is missing after it in another.

    Args:
        course: The course, on a file system that the nodes see.
        tasks: Which submissions.
        store: Where the results go; the nodes must see it.
        jobs: Size of the array.
        options: More options for sbatch, such as `--partition=rome --time=30`.

    Yields:
        Each submission when its result is stored.

    Raises:
        ArrayRefusedError: sbatch refused the array.
    """
    missing = list(tasks)
    for _ in range(ROUNDS):
        if not missing:
            return
        for task in _run_array(course, missing, store, min(jobs, len(missing)), options):
            missing.remove(task)
            yield task


def _run_array(
    course: Course, tasks: list[Task], store: ResultStore, jobs: int, options: str
) -> Iterator[Task]:
    """Submit an array and wait for its results; jobs may end in any way."""
    left, queued = list(tasks), True
    with tempfile.TemporaryDirectory(prefix=".slurm-", dir=course.root) as scratch:
        for number in range(jobs):
            share = Share(
                root=str(course.root),
                sandbox=course.grading.sandbox,
                folder=str(store.folder),
                tasks=tasks[number::jobs],
            )
            (Path(scratch) / f"{number}.json").write_text(json.dumps(share))
        job = _submit(scratch, store.folder, jobs, options)
        try:
            while left and queued:
                time.sleep(POLL_S)
                queued = _is_queued(job)  # asked first: what has ended by now has stored its results
                found = [task for task in left if store.read(task) is not None]
                yield from found
                left = [task for task in left if task not in found]
        except BaseException:  # Ctrl-C: nobody waits for the jobs any more
            subprocess.run(["scancel", job], check=False, capture_output=True)
            raise


def _submit(scratch: str, logs: Path, jobs: int, options: str) -> str:
    """Submit the array; return its job number."""
    command = [sys.executable, "-m", "grading.scoring.slurm"]
    script = f"#!/bin/sh\nexec {shlex.join(command)} {shlex.quote(scratch)}/$SLURM_ARRAY_TASK_ID.json\n"
    sbatch = ["sbatch", "--parsable", "--requeue", f"--array=0-{jobs - 1}"]
    sbatch += [f"--output={logs}/slurm-%A_%a.log", *shlex.split(options)]
    done = subprocess.run(sbatch, input=script, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise ArrayRefusedError(f"sbatch refused the job array: {done.stderr.strip()}")
    return done.stdout.strip().partition(";")[0]


def _is_queued(job: str) -> bool:
    """Say whether any job of an array is pending or running; assume so if the controller does not answer."""
    squeue = ["squeue", "--noheader", f"--jobs={job}"]
    done = subprocess.run(squeue, text=True, capture_output=True, check=False)
    return bool(done.stdout.strip()) if done.returncode == 0 else "Invalid job id" not in done.stderr


def run_share(path: Path) -> None:
    """Run the submissions that one job's file lists; a requeued job skips those already stored."""
    share: Share = json.loads(path.read_text())
    course, store = course_at(Path(share["root"])), ResultStore(Path(share["folder"]))
    course.grading.sandbox = share["sandbox"]
    for task in (Task(*names) for names in share["tasks"]):
        if store.read(task) is not None:
            continue
        try:
            run_and_store(course, task, store)
        except NoSandboxError as refusal:
            reason = f"{socket.gethostname()}: {refusal}"
            store.write(fault(course.lesson(task.lesson), task.student, None, share["sandbox"], reason))


if __name__ == "__main__":
    run_share(Path(sys.argv[1]))

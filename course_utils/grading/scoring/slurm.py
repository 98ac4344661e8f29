"""Runs submissions as a Slurm job array; results arrive as files, so that a lost job loses nothing."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_utils.grading.course import Course, result_store
from course_utils.grading.scoring.local import Task

ROUNDS = 3
POLL_S = 2.0


class ArrayRefusedError(RuntimeError):
    """Slurm did not take the job array; the message is what it said."""


def run_all(
    course: Course, tasks: list[Task], folder: Path, jobs: int, options: str = ""
) -> Iterator[dict[str, Any]]:
    """Runs submissions as one array of `jobs` jobs, and what is missing after it in another.

    Args:
        course: The course, on a file system that the nodes see.
        tasks: Which submissions.
        folder: Where the results go; the nodes must see it.
        jobs: Size of the array.
        options: More options for sbatch, such as `--partition=rome --time=30`.

    Yields:
        The results, as they come.

    Raises:
        ArrayRefusedError: Slurm did not take the array.
    """
    missing = list(tasks)
    for _ in range(ROUNDS):
        if not missing:
            return
        for task, result in _array(course, missing, folder, min(jobs, len(missing)), options):
            missing.remove(task)
            yield result


def _array(
    course: Course, tasks: list[Task], folder: Path, jobs: int, options: str
) -> Iterator[tuple[Task, dict[str, Any]]]:
    """Submits an array and waits for its results; how its jobs end does not matter, only their files do."""
    left, queued = list(tasks), True
    with tempfile.TemporaryDirectory(prefix=".slurm-", dir=course.root) as scratch:
        for number in range(jobs):
            share = {"root": str(course.root), "folder": str(folder), "tasks": tasks[number::jobs]}
            (Path(scratch) / f"{number}.json").write_text(json.dumps(share))
        job = _submit(scratch, folder, jobs, options)
        while left and queued:
            time.sleep(POLL_S)
            queued = _is_queued(job)  # asked before looking: what ended has written its results
            found = [(task, result_store.read(folder, *task)) for task in left]
            yield from (pair for pair in found if pair[1] is not None)
            left = [task for task, result in found if result is None]


def _submit(scratch: str, folder: Path, jobs: int, options: str) -> str:
    """Hands the array to Slurm; returns its number."""
    command = [sys.executable, "-m", "course_utils.grading.scoring.slurm_task"]
    script = f"#!/bin/sh\nexec {shlex.join(command)} {shlex.quote(scratch)}/$SLURM_ARRAY_TASK_ID.json\n"
    sbatch = ["sbatch", "--parsable", "--requeue", f"--array=0-{jobs - 1}"]
    sbatch += [f"--output={folder}/slurm-%A_%a.log", *shlex.split(options)]
    done = subprocess.run(sbatch, input=script, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise ArrayRefusedError(f"sbatch refused the job array: {done.stderr.strip()}")
    return done.stdout.strip().partition(";")[0]


def _is_queued(job: str) -> bool:
    """Says whether any job of an array waits or runs; a controller that does not answer is no answer."""
    squeue = ["squeue", "--noheader", f"--jobs={job}"]
    done = subprocess.run(squeue, text=True, capture_output=True, check=False)
    return bool(done.stdout.strip()) if done.returncode == 0 else "Invalid job id" not in done.stderr

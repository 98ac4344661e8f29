"""Runs submissions, several at once, and leaves one result file for each."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from course_utils.grading.course import Course, course_at, result_store
from course_utils.grading.sandbox import GraderFaultError, backends
from course_utils.grading.scoring.scorer import fault, grade, provenance
from course_utils.grading.scoring.shared_box import shared_box
from course_utils.system import die_with_parent

TRIES = 2
Task = tuple[str, str]  # lesson, student


def is_current(course: Course, lesson: str, student: str) -> bool:
    """Says whether a submission has a result that still holds."""
    kind = backends.choose(course.grading.sandbox)
    versions = provenance(course.lesson(lesson), course.submission(student, lesson), kind)
    return result_store.is_current(result_store.read(course.results, lesson, student), versions)


def run_one(course: Course, lesson: str, student: str) -> dict[str, Any]:
    """Runs one submission; a fault of the grader comes back as such, never as a mark."""
    submission, the_lesson = course.submission(student, lesson), course.lesson(lesson)
    for _ in range(TRIES):
        try:
            with shared_box(course) as box:
                return grade(box, the_lesson, submission)
        except (GraderFaultError, OSError) as error:
            reason = repr(error)
    return fault(the_lesson, submission, course.grading.sandbox, reason)


def run_all(course: Course, tasks: list[Task], folder: Path, jobs: int) -> Iterator[dict[str, Any]]:
    """Runs submissions in `jobs` processes, or in this one; each writes its results itself.

    Args:
        course: The course.
        tasks: Which submissions.
        folder: Where the results go.
        jobs: How many at once.

    Yields:
        The results, as they come.
    """
    if min(jobs, len(tasks)) == 1:
        yield from (_work(str(course.root), task, str(folder)) for task in tasks)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=die_with_parent) as pool:
        futures = [pool.submit(_work, str(course.root), task, str(folder)) for task in tasks]
        for future in as_completed(futures):
            try:
                yield future.result()
            except BrokenProcessPool:
                # A worker was killed: what is missing now is run by the next call.
                return


_courses: dict[str, Course] = {}


def _work(root: str, task: Task, folder: str) -> dict[str, Any]:
    course = _courses.setdefault(root, None) or course_at(Path(root))
    _courses[root] = course
    result = run_one(course, *task)
    result_store.write(Path(folder), result)
    return {**result, "cells": {}}

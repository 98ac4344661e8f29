"""Submissions run one after another: what goes wrong with one costs no other."""

import json

import pytest

from grading.course.result import Task
from grading.course.result_store import ResultStore
from grading.scoring import local, slurm
from tests.grading.toy_course import LESSON, make_course, submit

TASKS = [Task(LESSON, name) for name in ("ann", "bob", "cem")]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    course = make_course(tmp_path_factory.mktemp("course"))
    for task in TASKS:
        submit(course, task.student)
    return course


@pytest.fixture
def run_share(course, tmp_path):
    """Return a function that runs the share of one job of an array."""

    def run():
        share = {
            "root": str(course.root),
            "folder": str(tmp_path / "runs"),
            "tasks": TASKS,
            "sandbox": "auto",
        }
        (tmp_path / "0.json").write_text(json.dumps(share))
        slurm.run_share(tmp_path / "0.json")

    return run


@pytest.fixture
def run_all(course, tmp_path):
    """Return a function that runs all submissions in this process."""
    return lambda: list(local.run_all(course, TASKS, ResultStore(tmp_path / "runs"), 1))


@pytest.mark.parametrize("error", [RecursionError, SystemExit, OSError, KeyError, UnicodeError])
@pytest.mark.parametrize("how", ["run_share", "run_all"])
def test_any_exception_costs_only_its_own_submission(course, tmp_path, monkeypatch, request, how, error):
    def run_one(course, task):
        if task.student == "bob":
            raise error
        return local.fault(course.lesson(LESSON), task.student, None, "none", "a result")

    monkeypatch.setattr(local, "run_one", run_one)
    request.getfixturevalue(how)()
    store = ResultStore(tmp_path / "runs")
    assert [store.read(task) is not None for task in TASKS] == [True, False, True]


def test_more_jobs_than_cores_are_not_started(course, tmp_path, monkeypatch):
    """Two submissions on one core: a busy one with many sessions would take almost all of it."""
    monkeypatch.setattr(local, "usable_cores", lambda: 1)
    monkeypatch.setattr(
        local,
        "run_one",
        lambda course, task: local.fault(course.lesson(LESSON), task.student, None, "none", ""),
    )
    monkeypatch.setattr(local, "ProcessPoolExecutor", None)
    assert list(local.run_all(course, TASKS, ResultStore(tmp_path / "runs"), 8)) == TASKS

"""An array's client and its jobs, without a Slurm."""

import json
from pathlib import Path

import pytest

from grading.course.config import Course
from grading.course.result import GRADER_FAULT, Task
from grading.course.result_store import ResultStore
from grading.sandbox.isolation import backends
from grading.scoring import slurm
from tests.grading.toy_course import LESSON, make_course, submit

TASKS = [Task(LESSON, "ann"), Task(LESSON, "bob")]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = make_course(tmp_path_factory.mktemp("course"))
    for task in TASKS:
        submit(course, task.student)
    return course


@pytest.fixture
def cancelled(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands run while an array is waited for."""
    commands: list[list[str]] = []
    monkeypatch.setattr(slurm, "POLL_S", 0)
    monkeypatch.setattr(slurm, "_submit", lambda *arguments: "7")
    monkeypatch.setattr(slurm.subprocess, "run", lambda command, **_: commands.append(command))
    return commands


def test_ctrl_c_cancels_the_array(course, tmp_path, monkeypatch, cancelled):
    def interrupt(job: str) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(slurm, "_is_queued", interrupt)
    with pytest.raises(KeyboardInterrupt):
        list(slurm.run_all(course, TASKS, ResultStore(tmp_path), 2))
    assert cancelled == [["scancel", "7"]]


def test_client_that_stops_listening_cancels_the_array(course, tmp_path, monkeypatch, cancelled):
    store = ResultStore(tmp_path)
    monkeypatch.setattr(slurm, "_is_queued", lambda job: True)
    monkeypatch.setattr(ResultStore, "read", lambda self, task: {} if task == TASKS[0] else None)
    running = slurm.run_all(course, TASKS, store, 2)
    assert next(running) == TASKS[0]
    running.close()
    assert cancelled == [["scancel", "7"]]


def test_finished_array_is_not_cancelled(course, tmp_path, monkeypatch, cancelled):
    monkeypatch.setattr(slurm, "_is_queued", lambda job: False)
    monkeypatch.setattr(ResultStore, "read", lambda self, task: {})
    assert list(slurm.run_all(course, TASKS, ResultStore(tmp_path), 2)) == TASKS
    assert cancelled == []


def share(course: Course, folder: Path, sandbox: str) -> Path:
    path = folder / "0.json"
    content = slurm.Share(root=str(course.root), sandbox=sandbox, folder=str(folder), tasks=TASKS)
    path.write_text(json.dumps(content))
    return path


def test_node_without_a_sandbox_reports_it_for_each_submission(course, tmp_path, monkeypatch):
    monkeypatch.setattr(backends, "works", lambda kind: False)
    slurm.run_share(share(course, tmp_path, "auto"))
    for task in TASKS:
        result = ResultStore(tmp_path).read(task)
        assert result["status"] == GRADER_FAULT
        assert "No sandbox works" in result["findings"][-1]["what"]


def test_jobs_use_the_sandbox_that_was_asked_for(course, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(slurm, "run_and_store", lambda course, *_: asked.append(course.grading.sandbox))
    slurm.run_share(share(course, tmp_path, "bwrap"))
    assert asked == ["bwrap"] * 2

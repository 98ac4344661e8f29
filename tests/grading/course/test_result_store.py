"""Stored results: atomic, up to date or not, written to the gradebook or not."""

import json
import os

import pytest

from grading.course.result import GRADER_FAULT, Task
from grading.course.result_store import ResultStore

TASK = Task("01_a", "ann")
VERSIONS = {"submission": "s", "lesson": "l", "checks": "c", "environment": "e"}


def result(**changes):
    return {
        "lesson": "01_a",
        "student": "ann",
        "status": "right",
        "points": 2.0,
        "max_points": 2.0,
        "exercises": {},
        "findings": [],
        "provenance": {**VERSIONS, "sandbox": "bwrap", "seed": 1, "node": "n", "time": "t", "seconds": 1.0},
        "cells": {},
        "notebook": {"cells": []},
        **changes,
    }


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "marks")


def test_result_is_read_back_from_one_file(store):
    assert store.read(TASK) is None
    store.write(result())
    assert store.read(TASK) == result()
    assert [path.name for path in (store.folder / "01_a").iterdir()] == ["ann.json"]
    store.remove(TASK)
    store.remove(TASK)
    assert store.read(TASK) is None


def test_writer_killed_before_the_rename_leaves_the_old_result(store, monkeypatch):
    store.write(result())

    def killed(fd):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        store.write(result(points=0.0))
    assert store.read(TASK) == result()


def test_truncated_file_counts_as_missing(store):
    store.write(result())
    text = store.path(TASK).read_text()
    store.path(TASK).write_text(text[: len(text) // 2])
    assert store.read(TASK) is None
    assert store.up_to_date(TASK, VERSIONS) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"[" * 100_000,
        b'{"points": NaN}',
        json.dumps(result(points="6")).encode(),
        json.dumps(result(findings=[{"kind": 3}])).encode(),
        json.dumps(result(cells={"a": {"text": "\ud800", "error": "", "pictures": []}})).encode(),
        json.dumps(result(), allow_nan=False).encode("utf-16"),
    ],
)
def test_file_of_another_form_counts_as_missing(store, data):
    store.write(result())
    store.path(TASK).write_bytes(data)
    assert store.read(TASK) is None
    assert store.read_summary(TASK) is None


def test_summary_is_read_without_the_cells(store):
    store.write(result())
    assert store.read_summary(TASK) == {k: v for k, v in result().items() if k not in ("cells", "notebook")}


def test_result_is_up_to_date_for_its_own_versions_in_any_sandbox(store):
    store.write(result())
    assert store.up_to_date(TASK, VERSIONS) == result()


@pytest.mark.parametrize("name", VERSIONS)
def test_another_version_makes_a_result_stale(store, name):
    store.write(result())
    assert store.up_to_date(TASK, {**VERSIONS, name: "other"}) is None


def test_grader_fault_is_never_up_to_date(store):
    store.write(result(status=GRADER_FAULT))
    assert store.up_to_date(TASK, VERSIONS) is None


def test_result_of_an_older_format_is_not_up_to_date(store):
    store.write(result())
    old = result()
    del old["notebook"]
    store.path(TASK).write_text(json.dumps(old))
    assert store.up_to_date(TASK, VERSIONS) is None


def test_result_is_unwritten_until_marked_and_after_it_changes(store):
    assert not store.is_unwritten(TASK)
    store.write(result())
    assert store.is_unwritten(TASK)
    store.mark_written(TASK)
    assert not store.is_unwritten(TASK)
    store.write(result(points=0.0))
    assert store.is_unwritten(TASK)

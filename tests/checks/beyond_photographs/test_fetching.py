"""The check of `fetch_ranges`: what it draws, when its store answers, and where answers run."""

import asyncio
import importlib
import threading
import time

import numpy as np
import pytest

from course_utils.checks.beyond_photographs._fetching import object_store
from course_utils.checks.beyond_photographs._fetching.drawn_objects import SCRIPTS
from course_utils.checks.beyond_photographs._fetching.object_store import (
    ALONE,
    FEW,
    FULL,
    TRIES,
    StoredObject,
)
from course_utils.checks.core.check import Check, CheckFailed
from course_utils.checks.world.handle import WorldError
from course_utils.checks.world.server import open_world
from grading.answers.bank import answer

module = importlib.import_module(
    "course_utils.checks.beyond_photographs.fetch_ranges"
)  # its room has this name
check = Check.from_module(module)


def written(name):
    names = {"np": np, "__name__": "answer"}
    exec(answer("beyond_photographs", "fetch_ranges", name).source, names)
    return names["fetch"]


def drawn(seed=0):
    return module.make(np.random.default_rng(seed))[1]


@pytest.mark.parametrize("seed", range(40))
def test_runs_are_the_only_requests_that_the_rules_allow(seed):
    for one in drawn(seed):
        for reach in (one.gap - 1, one.gap):  # which of both "nearer" means makes no difference
            runs = []
            for start, length in sorted(one.ranges):
                if runs and start <= runs[-1][1] + reach:
                    runs[-1] = (runs[-1][0], max(runs[-1][1], start + length))
                else:
                    runs.append((start, start + length))
            assert runs == one.runs
        assert len(one.content) < 2**13  # a reply to a process is sent at once, on macOS too
        assert one.most < len(runs)
        assert one.ranges != sorted(one.ranges)
        assert len(set(one.ranges)) == len(one.ranges) - 1


@pytest.mark.parametrize("seed", range(10))
def test_each_object_fails_in_each_way(seed):
    first, second, broken = drawn(seed)
    for one in (first, second):
        assert sorted(script for script in one.failures if script) == sorted(SCRIPTS)
    assert max(map(len, broken.failures)) > TRIES
    assert (broken.ranges, broken.runs) == (second.ranges, second.runs)
    assert broken.content != second.content
    assert sum(script.count("busy") for script in first.failures) >= 5  # no count over all requests is enough
    assert max(map(len, first.failures)) == 4


@pytest.fixture
def stored():
    one = drawn()[0]
    return StoredObject(one._replace(failures=[()] * len(one.runs)))


def polls(stored, ticket):
    """How often an answer is asked for."""
    count = 1
    while stored.finish(ticket) is None:
        count += 1
    return count


def test_only_a_request_that_is_alone_waits_long(stored):
    runs = stored.drawn.runs
    stored.begin(0, *runs[0])
    assert stored.finish(0) is None
    stored.begin(1, *runs[1])
    assert polls(stored, 1) == FEW
    assert polls(stored, 0) == FEW - 1
    stored.begin(2, *runs[2])
    assert polls(stored, 2) == FEW
    assert stored.most_in_flight == 2


def test_who_asks_one_at_a_time_waits_once(stored):
    runs = stored.drawn.runs
    stored.begin(0, *runs[0])
    assert polls(stored, 0) == ALONE
    stored.begin(1, *runs[1])
    assert polls(stored, 1) == FEW
    assert stored.most_in_flight == 1


def test_as_many_as_are_allowed_wait_for_one_more_once(stored):
    runs, most = stored.drawn.runs, stored.drawn.most
    for ticket in range(most):
        stored.begin(ticket, *runs[ticket])
    assert polls(stored, 0) == FULL
    assert polls(stored, 1) == FEW
    stored.begin(most, *runs[most])
    assert polls(stored, most) == FEW


def test_nobody_waits_for_the_last_request(stored):
    for ticket, run in enumerate(stored.drawn.runs):
        stored.begin(ticket, *run)
    assert {polls(stored, ticket) for ticket in range(len(stored.drawn.runs))} == {FEW}


def test_requests_are_answered_as_their_script_says():
    one = drawn()[0]
    stored = StoredObject(one)
    run = one.runs[one.failures.index(("busy", "busy", "short", "busy"))]
    right = one.content[slice(*run)]
    for ticket in range(5):
        stored.begin(ticket, *run)
    statuses = [(request.status, request.failed) for request in stored.requests]
    assert statuses == [(503, True), (503, True), (206, True), (503, True), (206, False)]
    assert 0 < stored.requests[2].sent < len(right)
    stored.begin(5, 10**6, 10**6 + 5)
    stored.begin(6, 50, 40)
    assert [request.status for request in stored.requests[5:]] == [416, 416]


def test_retries_without_end_are_ended(stored):
    run = stored.drawn.runs[0]
    assert all(stored.begin(ticket, *run) for ticket in range(TRIES))
    assert not stored.begin(TRIES, *run)
    assert stored.endless
    assert len(stored.requests) == TRIES


def test_hostile_calls_are_refused():
    with open_world(object_store.World(drawn())) as handle:
        for arguments in ((99, 0, 1), (0, "a", 1), (0, 2**70, 1), (0, None, None), ()):
            with pytest.raises((WorldError, OverflowError)):
                handle.begin(*arguments)
        for arguments in ((0,), (-1,), (10**9,)):
            with pytest.raises(WorldError):
                handle.finish(*arguments)


@pytest.mark.parametrize("name", ["right_asyncio_run", "right_coroutine", "right_threads", "right_back_off"])
def test_answers_run_where_an_event_loop_is_running(name):
    async def cell():
        return str(check(written(name)))

    assert asyncio.run(cell()).startswith("✓ Each request")


def test_answers_that_ask_for_the_loop_of_their_thread(recwarn):
    fetch = written("right_coroutine")

    def fetch_by_hand(store, ranges):
        return asyncio.get_event_loop().run_until_complete(fetch(store, ranges))

    assert check(fetch_by_hand)
    assert not recwarn.list


def test_long_sleeps_are_short_and_sleep_is_itself_afterwards():
    real, real_pause, hook = time.sleep, asyncio.sleep, threading.excepthook
    source = answer("beyond_photographs", "fetch_ranges", "right_threads").source
    names = {"__name__": "answer", "sleep": time.sleep}
    exec(source.replace("failures += 1", "failures += 1; sleep(2000**failures)"), names)
    assert check(names["fetch"])
    assert names["sleep"] is real is time.sleep
    assert (asyncio.sleep, threading.excepthook) == (real_pause, hook)


def test_cells_that_replace_sleep_wait_all_the_same(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: None)
    assert check(written("right_threads"))
    with pytest.raises(CheckFailed, match="Only one request"):
        check(written("wrong_one_at_a_time"))


@pytest.mark.parametrize(
    ("source", "mistake"),
    [
        ("raise NotImplementedError()", "not_written_yet"),
        ("return None", "no_bytes"),
        ("yield b''", "leaves_out"),
        ("raise SystemExit(1)", "crash"),
        ("raise OSError('no network')", "crash"),
    ],
)
def test_answers_without_requests(source, mistake):
    names = {}
    exec(f"def fetch(store, ranges):\n    {source}", names)
    with pytest.raises(CheckFailed) as found:
        check(names["fetch"])
    assert found.value.mistake == mistake

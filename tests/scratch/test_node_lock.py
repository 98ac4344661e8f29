"""The lock of a set ends with the process that took it, and names it meanwhile."""

import fcntl
import os
import threading
from datetime import UTC, datetime

import pytest

from course_utils.scratch.node_lock import Holder, locked
from course_utils.scratch.progress import Progress
from course_utils.scratch.staged_set import place_of
from course_utils.scratch.staging import stage_set, wait_silently
from course_utils.system import in_child, waiting_child


def is_free(path) -> bool:
    with path.open("r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_a_child_that_is_forked_meanwhile_does_not_keep_the_lock(tmp_path):
    lock = tmp_path / "lock"
    with locked(lock, wait_silently):
        child = waiting_child(lambda wait: wait())
        send = child.__enter__()
        assert not is_free(lock)
    assert is_free(lock)
    send(b"end")
    child.__exit__(None, None, None)


def test_a_child_that_ends_meanwhile_does_not_release_the_lock(tmp_path):
    lock = tmp_path / "lock"
    with locked(lock, wait_silently):
        in_child(os.getpid)
        assert not is_free(lock)


def test_a_child_that_leaves_the_context_closes_no_other_descriptor(tmp_path):
    lock = tmp_path / "lock"

    def leave(context) -> bool:
        with (tmp_path / "mine").open("w") as mine:  # gets the number that the lock had
            context.__exit__(None, None, None)
            mine.write("data")
        return True

    context = locked(lock, wait_silently)
    context.__enter__()
    assert in_child(leave, context)
    assert not is_free(lock)
    context.__exit__(None, None, None)
    assert is_free(lock)


def test_threads_wait_for_each_other(tmp_path):
    lock, waited = tmp_path / "lock", threading.Event()

    def take() -> None:
        with locked(lock, lambda _: waited.set()):
            pass

    thread = threading.Thread(target=take)
    with locked(lock, wait_silently):
        thread.start()
        assert waited.wait(60)
    thread.join()


def test_who_waits_knows_for_whom(tmp_path):
    lock = tmp_path / "lock"
    holders: list[Holder] = []
    with locked(lock, wait_silently):

        def take() -> None:
            with locked(lock, holders.append):
                pass

        thread = threading.Thread(target=take)
        thread.start()
        while not holders:
            thread.join(0.01)
    thread.join()
    assert (holders[0].pid, holders[0].host) == (os.getpid(), os.uname().nodename)
    assert f"process {os.getpid()} on " in str(holders[0])


@pytest.mark.parametrize("text", ["", "[1]", "no JSON", '["a", "b"]', "[[], []]"])
def test_a_holder_that_has_not_signed_is_another_process(tmp_path, text):
    lock = tmp_path / "lock"
    lock.write_text(text)
    with lock.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        said: list[str] = []

        def tell(holder: Holder) -> None:
            said.append(str(holder))
            fcntl.flock(file, fcntl.LOCK_UN)

        with locked(lock, tell):
            assert said[0].startswith("another process, which has held the lock since")


def test_a_child_that_is_forked_while_a_set_is_copied_removes_nothing(tmp_path):
    (tmp_path / "set.bin").write_bytes(bytes(10_000_000))
    (tmp_path / "scratch").mkdir()
    forked: list[int] = []

    def report(_: int) -> None:
        if not forked:
            forked.append(os.fork())
            if not forked[0]:
                raise SystemExit  # through all contexts of the parent

    try:
        staged = stage_set(tmp_path / "set.bin", tmp_path / "scratch", report=report)
    except SystemExit:
        os._exit(0)
    os.waitpid(forked[0], 0)
    assert staged.path.read_bytes() == bytes(10_000_000)


def test_a_log_tells_for_whom_a_process_waits_and_how_much_has_arrived(tmp_path, capsys, monkeypatch):
    (tmp_path / "set.bin").write_bytes(bytes(10))
    place = place_of(tmp_path / "set.bin", tmp_path, "copy")
    monkeypatch.setattr("course_utils.scratch.progress.INTERVAL", 0.01)
    progress = Progress("set.bin", 10, place)
    progress.waits(Holder(7, "node3", datetime.now(UTC)))
    text = ""
    while "have arrived" not in text:
        text += capsys.readouterr().err
    progress.copied(10)
    progress.end()
    assert "waiting for process 7 on node3" in text
    assert "set.bin: 0.00 of 0.00 GB copied" in text + capsys.readouterr().err

import multiprocessing
import os
import signal

import psutil
import pytest

from course_utils.system.fork import ChildDiedError, fork_by_default, in_child, waiting_child


def test_runs_in_child_process_and_returns_result():
    pid, parent = in_child(lambda: (os.getpid(), os.getppid()))
    assert pid != os.getpid() == parent


def test_exception_in_child_is_raised_in_parent():
    with pytest.raises(ZeroDivisionError):
        in_child(lambda: 1 / 0)


def test_unpicklable_exception_becomes_runtime_error_with_its_name():
    class LocalError(Exception):
        pass

    def fail():
        raise LocalError("of this test")

    with pytest.raises(RuntimeError, match="LocalError: of this test"):
        in_child(fail)


def test_killed_child_raises_child_died_error_with_its_signal():
    with pytest.raises(ChildDiedError, match="was killed by SIGKILL") as caught:
        in_child(lambda: os.kill(os.getpid(), 9))
    assert caught.value.signal == signal.SIGKILL


def test_child_that_exits_was_not_killed():
    with pytest.raises(ChildDiedError, match="exited") as caught:
        in_child(lambda: os._exit(3))
    assert caught.value.signal is None


def test_child_that_died_is_reaped():
    others = set(psutil.Process().children())
    with pytest.raises(ChildDiedError):
        in_child(lambda: os.kill(os.getpid(), 9))
    assert not [
        one for one in set(psutil.Process().children()) - others if one.status() == psutil.STATUS_ZOMBIE
    ]


def test_child_does_not_change_parents_objects():
    values = [1]
    in_child(lambda: values.append(2))
    assert values == [1]


def test_start_method_is_fork_only_within_context():
    before = multiprocessing.get_start_method(allow_none=True)
    with fork_by_default():
        assert multiprocessing.get_start_method() == "fork"
    assert multiprocessing.get_start_method(allow_none=True) == before


def test_a_waiting_child_goes_on_while_another_one_waits():
    with waiting_child(lambda wait: wait() + b" one") as first, waiting_child(lambda wait: wait()) as second:
        assert first(b"data of") == b"data of one"
        assert second(b"") == b""


def test_data_for_a_dead_child_raise_child_died_error():
    with waiting_child(lambda _: os._exit(1)) as send, pytest.raises(ChildDiedError):
        send(b"data")


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_result_comes_back_where_ended_children_are_ignored(handler):
    before = signal.signal(signal.SIGCHLD, handler)
    try:
        assert in_child(lambda: 7) == 7
        with waiting_child(lambda wait: wait()) as send:
            assert send(b"data") == b"data"
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_alarm_of_a_child_is_not_answered_by_the_callers_handler():
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        with pytest.raises(ChildDiedError, match="SIGALRM"):
            in_child(lambda: [signal.raise_signal(signal.SIGALRM), os._exit(0)])
    finally:
        signal.signal(signal.SIGALRM, before)


def test_child_that_waits_elsewhere_is_left_alone_after_a_while():
    reader, writer = os.pipe()

    def wait_elsewhere(wait):
        return os.read(reader, 1), wait()

    with waiting_child(wait_elsewhere, patience=0) as send:
        os.write(writer, b"a")
        assert send(b"b") == (b"a", b"b")
    os.close(reader)
    os.close(writer)

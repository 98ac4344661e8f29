"""A forked process in which calls on hostile data are bounded."""

import os
import signal
import time

import pytest

from grading.sandbox.server_process import GraderFaultError
from grading.scoring.bounded import Bounds, Exceeded, run_bounded

SMALL = Bounds(cpu_seconds=1, memory_mb=128, wall_seconds=600)


def spin(name):
    while True:
        pass


def hog(name):
    return str(len(bytearray(2**28)))


def overflow_the_stack(name):
    os.kill(os.getpid(), signal.SIGSEGV)


def run(function, names=("it",), bounds=SMALL):
    return dict(run_bounded(function, names, str, bounds))


def test_results_come_from_one_process():
    pids = run(lambda name: f"{name} {os.getpid()}", ["a", "b"])
    assert [text.split()[0] for text in pids.values()] == ["a", "b"]
    assert len({text.split()[1] for text in pids.values()}) == 1
    assert str(os.getpid()) not in pids["a"]


@pytest.mark.parametrize("function", [spin, overflow_the_stack])
def test_call_beyond_its_bounds_costs_only_its_own_result(function):
    found = run(lambda name: function(name) if name == "b" else name, ["a", "b", "c"])
    assert (found["a"], found["c"]) == ("a", "c")
    assert isinstance(found["b"], Exceeded)


def test_memory_is_bounded():
    assert run(hog) == {"it": Exceeded("took more than 128 MiB of memory")}
    assert run(hog, bounds=Bounds(memory_mb=512)) == {"it": str(2**28)}


def test_each_call_has_its_own_processor_time():
    def half_a_second(name):
        end = time.process_time() + 0.6
        while time.process_time() < end:
            pass
        return name

    assert run(half_a_second, ["a", "b"]) == {"a": "a", "b": "b"}


def test_exception_is_a_fault_of_the_grader_with_its_traceback():
    with pytest.raises(GraderFaultError, match="ZeroDivisionError"):
        run(lambda name: str(1 / 0))


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM])
def test_process_killed_from_outside_is_started_once_more(sign, tmp_path):
    def killed_once(name):
        if not (tmp_path / name).exists():
            (tmp_path / name).touch()
            os.kill(os.getpid(), sign)
        return name

    assert run(killed_once) == {"it": "it"}
    with pytest.raises(GraderFaultError, match="lost"):
        run(lambda name: os.kill(os.getpid(), sign))


def test_hanging_process_is_killed():
    with pytest.raises(GraderFaultError, match="lost"):
        run(lambda name: time.sleep(1000), bounds=Bounds(wall_seconds=0.1))

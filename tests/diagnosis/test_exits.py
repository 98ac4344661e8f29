"""A run that is ended by a signal: its report is written, and it ends as without the diagnosis."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.diagnosis.test_command import COMMAND, start, written
from tests.lessons.lesson import COURSE

pytestmark = pytest.mark.slow
LOADER = """
import os, signal, sys
import torch
from torch.utils.data import DataLoader

def steps(workers=0):
    step = torch.optim.SGD([torch.zeros(1)], 1).step
    while True:
        for batch in DataLoader(range(256), 4, num_workers=workers, persistent_workers=bool(workers)):
            step()
            yield
"""
KILLED = (
    LOADER
    + """
for number, _ in enumerate(steps()):
    if number == 100:
        sys.stdout.write("in a buffer")
        os.kill(os.getpid(), signal.SIGTERM)
"""
)
CHECKPOINT = (
    LOADER
    + """
def save(number, frame):
    sys.stderr.write(f"checkpoint, {number}\\n")
    LEAVE

assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
assert signal.signal(signal.SIGTERM, save) is signal.SIG_DFL
assert signal.getsignal(signal.SIGTERM) is save
for number, _ in enumerate(steps()):
    if number == 100:
        os.kill(os.getpid(), signal.SIGTERM)
"""
)
LEAVING = {
    "sys.exit(7)": 7,
    "os._exit(7)": 7,
    "assert signal.signal(number, signal.SIG_DFL) is save; os.kill(os.getpid(), number)": -signal.SIGTERM,
}


def test_sigterm_kills_after_the_report(tmp_path):
    file = tmp_path / "report.json"
    script = written(tmp_path, KILLED)
    told, alone = start((*COMMAND, "--json", str(file)), script), start((sys.executable,), script)
    assert (told.returncode, told.stdout) == (alone.returncode, alone.stdout)
    assert told.returncode == -signal.SIGTERM
    report = json.loads(file.read_text())
    assert report["run"]["steps"] == 101
    assert report["run"]["status"] == "cut off"
    assert told.stderr.count("diagnosis of") == 1
    assert "a signal cut it off" in told.stderr


@pytest.mark.proof
@pytest.mark.parametrize(("leave", "status"), LEAVING.items())
def test_a_handler_of_the_script_is_first_and_decides(tmp_path, leave: str, status: int):
    script = written(tmp_path, CHECKPOINT.replace("LEAVE", leave))
    told, alone = start(COMMAND, script), start((sys.executable,), script)
    assert told.returncode == alone.returncode == status
    assert alone.stderr == "checkpoint, 15\n"
    assert told.stderr.startswith(alone.stderr + "\ndiagnosis of")


@pytest.mark.proof
def test_a_script_that_goes_on_after_its_handler_is_reported_at_its_end(tmp_path):
    told = start(
        COMMAND, written(tmp_path, CHECKPOINT.replace("LEAVE", "") + "    if number == 199: break\n")
    )
    assert told.returncode == 0
    assert "199 steps" in told.stderr or "200 steps" in told.stderr


@pytest.mark.proof
def test_a_second_signal_does_not_cut_the_report_off(tmp_path):
    twice = """
import course_utils.diagnosis.judge.verdict as verdict
judge = verdict.judge
verdict.judge = lambda folder: os.kill(os.getpid(), signal.SIGTERM) or judge(folder)
"""
    told = start(COMMAND, written(tmp_path, LOADER + twice + KILLED.removeprefix(LOADER)))
    assert told.returncode == -signal.SIGTERM
    assert told.stderr.count("verdict:") == 1


@pytest.mark.proof
def test_a_main_thread_that_never_leaves_c_is_ended_all_the_same(tmp_path):
    stuck = """
import ctypes, threading
mutex, libc = ctypes.create_string_buffer(64), ctypes.CDLL(None)
libc.pthread_mutex_lock(mutex)
for number, _ in zip(range(50), steps()):
    pass
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
libc.pthread_mutex_lock(mutex)
"""
    told = start(COMMAND, written(tmp_path, LOADER + stuck))
    assert told.returncode == -signal.SIGTERM
    assert told.stderr.count("verdict:") == 1


@pytest.mark.proof
def test_children_end_by_sigterm_without_a_report(tmp_path):
    children = """
import multiprocessing, time
if __name__ == "__main__":
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    child.start(), child.terminate(), child.join()
    print(child.exitcode)
    loader = DataLoader(range(256), 4, num_workers=2)
    batches = iter(loader)
    next(batches), next(batches)  # both workers have set their handlers
    for worker in batches._workers:
        worker.terminate(), worker.join()
"""
    told = start(COMMAND, written(tmp_path, LOADER + children))
    assert (told.returncode, told.stdout) == (0, "-15\n")
    assert told.stderr.count("diagnosis of") == 1


def test_workers_do_not_report_when_a_run_with_them_is_killed(tmp_path):
    script = written(tmp_path, KILLED.replace("steps()", "steps(2)"))
    told = start(COMMAND, script)
    assert told.returncode == -signal.SIGTERM
    assert told.stderr.count("diagnosis of") == 1


@pytest.mark.proof
@pytest.mark.parametrize("handler", [True, False])
def test_sigusr1_is_left_alone(tmp_path, handler: bool):
    own = "signal.signal(signal.SIGUSR1, lambda *_: print('soon'))\n" if handler else ""
    script = written(tmp_path, f"import os, signal\n{own}os.kill(os.getpid(), signal.SIGUSR1)\n")
    told, alone = start(COMMAND, script), start((sys.executable,), script)
    assert (told.returncode, told.stdout) == (alone.returncode, alone.stdout)
    assert told.returncode == (0 if handler else -signal.SIGUSR1)


@pytest.mark.proof
@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGKILL])
def test_the_last_of_killed_ranks_reports(tmp_path, first: signal.Signals):
    script = written(
        tmp_path, KILLED.replace("os.kill(os.getpid(), signal.SIGTERM)", "print(flush=True), signal.pause()")
    )
    ranks = [_rank(script, tmp_path, rank) for rank in range(2)]
    for process in ranks:
        process.stdout.readline()
    said = []
    for process, number in zip(ranks, (first, signal.SIGTERM), strict=True):
        process.send_signal(number)
        said.append(process.communicate()[1])
        assert process.returncode == -number
    assert [text.count("diagnosis of") for text in said] == [0, 1]
    assert not list(tmp_path.glob("diagnosis-*"))


def _rank(script: Path, folder: Path, rank: int) -> "subprocess.Popen[str]":
    variables = {"LOCAL_WORLD_SIZE": "2", "RANK": str(rank), "MASTER_PORT": "1", "TMPDIR": str(folder)}
    return subprocess.Popen(
        [*COMMAND, str(script)], cwd=COURSE, env=os.environ | variables, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip

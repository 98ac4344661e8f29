"""Every iteration ends, however it is left, closed, shared or forked, and leaves no thread behind."""

import _thread
import copy
import os
import pickle
import subprocess
import sys

import pytest

from course_utils.loading.decoder_threads import running
from course_utils.loading.fast_loader import FastLoader
from tests.image_set import numbered_jpeg, numbered_pack
from tests.whole import few

SCRIPT = """
import os, signal, sys, threading, time
from course_utils.loading.decoder_threads import running
from course_utils.loading.fast_loader import FastLoader
signal.alarm(60)  # a hang is a failure, not a suite that never ends
loader = FastLoader(sys.argv[1], 2, threads=2)
{body}
"""
EXIT = "batches = iter(loader); next(batches); sys.exit(7)"
# The iterator is still referenced when the interpreter unloads the modules that it needs.
LATE = "import queue; queue.mine = iter(loader); next(queue.mine); sys.exit(7)"
INTERRUPT = """
decoding = threading.Event()

def slow(i, pixels):
    if i > 10:  # by then all decoders have started
        decoding.set()
    time.sleep(0.02)

loader.images.read_into = slow
interrupter = threading.Thread(target=lambda: decoding.wait() and signal.raise_signal(signal.SIGINT))
interrupter.start()
try:
    list(loader)
except KeyboardInterrupt:
    interrupter.join()
    sys.exit(1 if running else 7)
"""
FORK = """
batches = iter(loader)
next(batches)
child = os.fork()
total = sum(len(labels) for _, labels in (loader if child == 0 else batches))
if child == 0:
    os._exit(total)
sys.exit(7 if (total, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) == (21, 23) else 1)
"""
# The child has no threads: its copy of the iteration is refused, and it exits as any process does.
INHERITED = """
batches = iter(loader)
next(batches)
child = os.fork()
if child == 0:
    signal.alarm(60)
    try:
        next(batches)
    except RuntimeError as error:
        batches.close()
        sys.exit(9 if "forked" in str(error) and not running else 1)
    sys.exit(2)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(7 if (status, sum(len(labels) for _, labels in batches)) == (9, 21) else status)
"""
# The reads wait until another thread has closed the iteration, or called next().
WAITING = """
loader = FastLoader(sys.argv[1], 8, threads=2)
reading, go = threading.Event(), threading.Event()
read_into = loader.images.read_into

def wait(i, pixels):
    reading.set()
    go.wait()
    read_into(i, pixels)

loader.images.read_into = wait
batches = iter(loader)

def close():
    reading.wait()
    closing = [threading.Thread(target=batches.close) for _ in range(2)]
    for thread in closing:
        thread.start()
    while not batches._threads.stopped:
        time.sleep(0.001)
    go.set()
    for thread in closing:
        thread.join()
"""
CLOSED = f"""{WAITING}
closer = threading.Thread(target=close)
closer.start()
assert next(batches, None) is None
closer.join()
assert not running and next(batches, None) is None and not batches.is_open
sys.exit(7 if sum(len(labels) for _, labels in loader) == 23 else 1)
"""
CLOSED_BY_HANDLER = f"""{WAITING}
signal.signal(signal.SIGUSR1, lambda number, frame: (go.set(), batches.close()))
threading.Thread(target=lambda: reading.wait() and os.kill(os.getpid(), signal.SIGUSR1)).start()
list(batches)
sys.exit(1 if running or batches.is_open else 7)
"""
SECOND_NEXT = f"""{WAITING}
refused = []

def second():
    reading.wait()
    try:
        next(batches)
    except RuntimeError as error:
        refused.append("another thread" in str(error))
    go.set()

thread = threading.Thread(target=second)
thread.start()
total = sum(len(labels) for _, labels in batches)
thread.join()
sys.exit(7 if (total, refused) == (23, [True]) else 1)
"""
# Many threads: each batch comes once, or never where one of them closes the iteration.
STRESS = """
import itertools, random
sys.setswitchinterval(1e-5)
for number in range(60):
    batches, seen = iter(loader), []

    def take(closes_after):
        for count in itertools.count():
            if count == closes_after:
                batches.close()
            try:
                seen.append(next(batches)[1].tolist())
            except StopIteration:
                return
            except RuntimeError:
                time.sleep(0)

    takers = [threading.Thread(target=take, args=[number % 3 - 1 + 3 * i]) for i in range(3)]
    for thread in takers:
        thread.start()
    for thread in takers:
        thread.join()
    labels = [label for batch in seen for label in batch]
    assert len(set(labels)) == len(labels) and not running and not batches.is_open
sys.exit(7)
"""
TWO_ITERATIONS = """
sys.setswitchinterval(1e-6)
for _ in range(200):
    begun, barrier = [], threading.Barrier(2)

    def begin():
        barrier.wait()
        try:
            begun.append(iter(loader))
        except RuntimeError as error:
            assert "still open" in str(error)

    both = [threading.Thread(target=begin) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(begun) == 1, len(begun)
    begun[0].close()
assert loader._next.epoch == 200
sys.exit(7)
"""


FORKS = {"fork": FORK, "inherited": INHERITED}
BODIES = {
    "exit": EXIT,
    "late_exit": LATE,
    "interrupt": INTERRUPT,
    "closed_while_waiting": CLOSED,
    "second_next": SECOND_NEXT,
    "many_threads": STRESS,
    "two_iterations": TWO_ITERATIONS,
    **({"closed_by_signal_handler": CLOSED_BY_HANDLER} if os.name == "posix" else {}),
    **(FORKS if hasattr(os, "fork") else {}),
}


@pytest.fixture
def path(tmp_path):
    return numbered_pack(tmp_path / "part0.zip", [numbered_jpeg(i) for i in range(23)])


@pytest.mark.parametrize("body", few(3, BODIES))
def test_process_ends_with_all_its_batches(path, body):
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SCRIPT.format(body=BODIES[body]), path],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (7, "")


def test_refused_threads_are_an_error_that_says_what_to_do_and_leaves_none(path, monkeypatch):
    start, started = _thread.start_new_thread, []

    def refuse(*args):
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(start(*args))

    loader, before = FastLoader(path, 4, threads=3), set(running)
    with monkeypatch.context() as patched:
        patched.setattr(_thread, "start_new_thread", refuse)
        with pytest.raises(RuntimeError, match=r"only 2 of 3 decoding threads: pass a smaller threads="):
            iter(loader)
    assert not set(running) - before
    assert sum(len(labels) for _, labels in loader) == 23
    assert loader.state_dict()["epoch"] == 1


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_are_refused_and_lose_no_batch(path, duplicate):
    loader = FastLoader(path, 4)
    batches = iter(loader)
    labels = next(batches)[1].tolist()
    for original in (loader, batches):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            duplicate(original)
    assert labels + [label for _, batch in batches for label in batch.tolist()] == list(range(23))

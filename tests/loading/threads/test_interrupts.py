"""Ctrl-C at any point of an iteration is raised, and leaves a loader that can be used again."""

import signal
import subprocess
import sys

import pytest

from tests.image_set import numbered_jpeg, numbered_pack

# A timer raises KeyboardInterrupt, as Ctrl-C does, after a random time, once or twice.
SCRIPT = """
import gc, random, signal, sys, time
from course_utils.loading.decoder_threads import running
from course_utils.loading.fast_loader import FastLoader

lost = []
sys.unraisablehook = lambda found: lost.append(repr(found.object))
hits = wanted = 0

def interrupt(number, frame):
    global hits
    hits += 1
    if hits == wanted:
        signal.setitimer(signal.ITIMER_REAL, 0)
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
loader = FastLoader(sys.argv[1], 2, threads=3)
rng = random.Random(int(sys.argv[3]))

def whole():
    for _ in loader:
        pass

def broken_off():
    for _ in loader:
        break

def kept():
    batches = iter(loader)
    next(batches)
    batches.close()

start = time.perf_counter()
for _ in range(20):
    whole()
    broken_off()
    kept()
usual = (time.perf_counter() - start) / 20

def run():
    while hits < wanted:
        whole()
        broken_off()
        kept()

missed = 0
for number in range(int(sys.argv[2])):
    hits, wanted, raised = 0, rng.choice([1, 2]), False
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 2 * usual), rng.uniform(2e-4, 3e-3))
            run()
        except KeyboardInterrupt:
            raised = True
        run()
    except KeyboardInterrupt:
        raised = True
    missed += not raised
    images = sum(len(labels) for _, labels in loader)
    assert images == 23, f"run {number}: {images} images after an interrupt"
gc.collect()
for _ in range(1000):
    if not running:
        break
    time.sleep(0.01)
print(missed, *lost, len(running))
"""


def interrupts(tmp_path, count, seed):
    path = numbered_pack(tmp_path / "part0.zip", [numbered_jpeg(i) for i in range(23)])
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, path, str(count), str(seed)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timer")
def test_interrupts_at_random_points_are_raised_and_leave_a_usable_loader(tmp_path):
    done = interrupts(tmp_path, 30, seed=0)
    assert (done.stdout, done.stderr) == ("0 0\n", "")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timer")
@pytest.mark.proof
def test_a_thousand_interrupts_at_random_points_are_raised(tmp_path):
    done = interrupts(tmp_path, 1000, seed=1)
    assert (done.stdout, done.stderr) == ("0 0\n", "")

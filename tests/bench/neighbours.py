"""What a submission with twelve busy processes costs one that is graded beside it.

Two sandboxes as `make grade` starts them, one for each job: with cores of their own, and on one core, as with
more jobs than cores. In each round the same computation runs alone and then beside the busy submission.
"""

import argparse
import os
import statistics
import sys
import threading
import time

from course_utils.system import take_share
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.steps import Step

COMPUTE = """
import time
start = time.perf_counter()
sum(number * number for number in range(3_000_000))
print(time.perf_counter() - start)
"""
BUSY = """
import os, time
end = time.monotonic() + {seconds}
for _ in range({processes}):
    if os.fork() == 0:
        {first}
        while time.monotonic() < end:
            pass
        os._exit(0)
for _ in range({processes}):
    os.wait()
"""
PROCESSES = 12
# A new session is a new scheduling group for the kernel, where it divides a core between sessions.
KINDS = {"busy": "pass", "busy, each in its own session": "os.setsid()"}


def started(number: int, jobs: int) -> Sandbox:
    """Return a running sandbox in the share of a job."""
    before = os.sched_getaffinity(0)
    take_share(number, jobs)
    sandbox = Sandbox(backends.choose(), (), Limits(cell_seconds=120))
    sandbox.run([Step(0, "1")], {})
    os.sched_setaffinity(0, before)
    return sandbox


def seconds(sandbox: Sandbox) -> float:
    """Return the seconds that the computation takes."""
    return float(sandbox.run([Step(0, COMPUTE)], {})[0].text)


def round_of(one: Sandbox, other: Sandbox, first: str) -> tuple[float, float]:
    """Return the seconds of the computation alone, and beside a busy submission."""
    alone = seconds(one)
    busy = Step(0, BUSY.format(seconds=10 * alone + 2, processes=PROCESSES, first=first))
    thread = threading.Thread(target=other.run, args=([busy], {}))
    thread.start()
    time.sleep(0.5)
    beside = seconds(one)
    thread.join()
    return alone, beside


def main() -> None:
    """Print the seconds alone and beside, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        sys.exit("This machine has one core.")
    for place, numbers in {"cores of their own": (0, 1), "one core for both": (0, cores)}.items():
        jobs = numbers[1] + 1
        with started(numbers[0], jobs) as one, started(numbers[1], jobs) as other:
            for kind, first in KINDS.items():
                rounds = [round_of(one, other, first) for _ in range(options.rounds)]
                ratios = sorted(beside / alone for alone, beside in rounds)
                alone, beside = (statistics.median(values) for values in zip(*rounds, strict=True))
                sys.stdout.write(
                    f"{place}, {PROCESSES} processes {kind}: {alone:.2f} s alone, {beside:.2f} s beside, "
                    f"ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}, "
                    f"{options.rounds} rounds)\n"
                )


if __name__ == "__main__":
    main()

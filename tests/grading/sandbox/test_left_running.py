"""What cells leave running, by accident, neither slows nor stops the check of a right answer."""

from pathlib import Path

import numpy as np
import pytest

from course_utils.checks.core import evidence
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.steps import Handout, Step

KINDS = [kind for kind in backends.KINDS if backends.works(kind)]
pytestmark = pytest.mark.skipif(not KINDS, reason="no sandbox works here")
TOY = Path(__file__).parents[1] / "toy"
INPUTS = evidence.encode({"numbers": np.array([1, 2, 3])})
ANSWER = "def total_of(numbers):\n    return sum(numbers)"
LEFT = {
    "memory traces": ("import tracemalloc\ntracemalloc.start()", "tracemalloc.is_tracing()"),
    "a tracer": (
        "import sys\ndef trace(*_):\n    return trace\nsys.settrace(trace)",
        "sys.gettrace() is not None",
    ),
    "a profiler": (
        "import sys\ndef profile(*_):\n    pass\nsys.setprofile(profile)",
        "sys.getprofile() is not None",
    ),
    "a profile": (
        "import cProfile\nprofile = cProfile.Profile()\nprofile.enable()",
        "bool(sum(map(sys.monitoring.get_events, filter(sys.monitoring.get_tool, range(6))))) "
        "if sys.version_info >= (3, 12) else sys.getprofile() is not None",
    ),
    "an alarm": (
        "import signal\ndef ring(*_):\n    raise TimeoutError('an alarm')\n"
        "_ = signal.signal(signal.SIGALRM, ring)\n_ = signal.setitimer(signal.ITIMER_REAL, 30)",
        "signal.getitimer(signal.ITIMER_REAL)[0] > 0",
    ),
    "a training": (
        "import threading\ndef train():\n    while True:\n        try:\n            sum(range(1000))\n"
        "        except Exception:\n            pass\n"
        "training = threading.Thread(target=train, daemon=True)\ntraining.start()",
        "training.is_alive()",
    ),
    "all but a thread that waits for work": (
        "import queue, threading\nwork = queue.Queue()\n"
        "def serve():\n    while True:\n        work.get()()\n        work.task_done()\n"
        "threading.Thread(target=serve, daemon=True).start()",
        "work.put(lambda: None) or work.join() or False",
    ),
}


@pytest.mark.parametrize("left", LEFT)
def test_check_does_not_meet_what_a_cell_has_left(left):
    begin, running = LEFT[left]
    steps = [
        Step(0, ANSWER),
        Step(1, begin),
        Step(2, "total_of, ", "total", "toy_checks.arithmetic", lambda: Handout(INPUTS)),
        Step(3, f"import sys\nprint({running})"),
    ]
    limits = Limits(cell_seconds=10)
    with Sandbox(KINDS[0], ("numpy",), limits, readable=[TOY], module_folders=[TOY]) as sandbox:
        *_, checked, after = sandbox.run(steps, {}).values()
    assert evidence.decode(checked.evidence, dict)["evidence"] == {"value": 6}
    assert after.text == "False\n"

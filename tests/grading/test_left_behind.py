"""What cells leave behind earns nothing for wrong answers to later exercises, and costs no right answer."""

from collections.abc import Iterator

import nbformat
import pytest

from grading.answers.bank import answers
from grading.course.lesson import Lesson
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.scoring.examination import Sandboxes, examine
from tests.grading.attacks.fake import SOCKET
from tests.grading.scoring.single_answer import LESSON_OF, grade_answer
from tests.grading.toy_course import cell_of
from tests.whole import one_in

pytestmark = pytest.mark.proof
SHORT = Limits(cell_seconds=10, exercise_seconds=20)
LESSON = "gpu_pipelining"
LEFT_BEHIND = {
    "child_answers_for_later_checks": SOCKET
    + """
from course_utils.checks.core import evidence
from grading.sandbox.protocol import Channel, StepReply, StepRequest
if os.fork() == 0:
    os.setsid()
    channel = Channel(channel)
    while True:
        channel.receive(StepRequest)
        channel.send(StepReply(evidence=evidence.encode({"evidence": {"value": None}})))
""",
    "first_evidence_for_all_checks": """
from grading.sandbox import worker
run_check, kept = worker._run_check, []
def replay(shell, step):
    kept.append(run_check(shell, step))
    return kept[0]
worker._run_check = replay
""",
    "first_answer_for_all_checks": """
from course_utils.checks.core.check import Check
run_probe, known = Check.run_probe, []
def replay(check, inputs, *answers, **more):
    known.append((check, inputs, *answers))
    return run_probe(*known[0], **more)
Check.run_probe = replay
""",
    "clocks_and_comparisons": """
import os, time, random
time.sleep = lambda seconds: None
time.time = time.monotonic = time.perf_counter = lambda: 1.0
os.getpid, random.random = lambda: 1, lambda: 0.5
np.array_equal = torch.equal = lambda *everything, **options: True
""",
}
# Workers that have sent tensors listen for whoever asks for more of their memory.
OPEN_LOADER = """
import torch
from torch.utils.data import DataLoader, TensorDataset
numbers = TensorDataset(torch.arange(100))
left_open = iter(DataLoader(numbers, batch_size=10, num_workers=2, multiprocessing_context="fork"))
next(left_open)
"""
# It draws from the generators that checks watch, and computes while they fork processes.
TRAINING = """
import random, threading, numpy, torch
def train():
    layer = torch.nn.Linear(64, 64)
    while True:
        inputs = torch.randn(32, 64) + random.random() + numpy.random.random()
        torch.nn.functional.dropout(layer(inputs)).sum().backward()
threading.Thread(target=train, daemon=True).start()
"""

try:
    KIND = backends.choose()
except backends.NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)


RIGHT = {one.check: one for lesson in LESSON_OF for one in reversed(answers(lesson)) if one.mistake is None}


@pytest.fixture(scope="module")
def short_sandboxes() -> Iterator[Sandboxes]:
    """They end soon what never answers."""
    with Sandbox(KIND, limits=SHORT) as first, Sandbox(KIND, limits=SHORT) as second:
        yield first, second


@pytest.fixture(scope="module")
def sandboxes() -> Iterator[Sandboxes]:
    with Sandbox(KIND) as first, Sandbox(KIND) as second:
        yield first, second


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_first_answer_earns_nothing_for_later_ones(short_sandboxes, name):
    lesson, right, wrong = Lesson(LESSON_OF[LESSON]), {}, {}
    for answer in answers(LESSON):
        if answer.mistake not in ("crash", "not_written_yet"):
            (right if answer.mistake is None else wrong).setdefault(answer.check, answer.source)
    notebook = nbformat.from_dict(lesson.source)
    first, *others = lesson.graded
    cell_of(notebook, f"{first}_answer").source = right[first] + LEFT_BEHIND[name]
    for check in others:
        cell_of(notebook, f"{check}_answer").source = wrong[check]
    found = examine(short_sandboxes, lesson, notebook, lesson.files(), 1).exercises
    assert {check: found[check]["points"] for check in others} == dict.fromkeys(others, 0)
    assert "grader fault" not in {exercise["status"] for exercise in found.values()}


@pytest.mark.parametrize("check", one_in(3, RIGHT))
def test_what_a_cell_leaves_running_costs_no_right_answer(sandboxes, check):
    right = RIGHT[check]
    found, error = grade_answer(sandboxes, right.lesson, check, right.source + OPEN_LOADER + TRAINING)
    assert (found["status"], error) == ("right", ""), found

"""Right answers are asked again, in a second process: what is right only at first earns nothing."""

import nbformat
import pytest

from course_utils.checks.core import evidence
from grading.sandbox.isolation import backends
from grading.sandbox.running_submission import RunningSubmission
from grading.sandbox.server_process import GraderFaultError
from grading.sandbox.steps import Step
from grading.scoring.examination import ONLY_AT_FIRST, examine
from grading.scoring.judge import Judge
from tests.grading.toy_course import LESSON, cell_of, make_course

SEED = 5
NAMES = ("total", "largest", "backwards")
# Each counts its calls, and is right only when it is called for the first time in its process.
COUNTERS = {
    "class": "class Calls:\n    count = 0\n\n"
    "def total_of(numbers):\n    Calls.count += 1\n    return sum(numbers) * (Calls.count < 2)",
    "file": "def total_of(numbers):\n    with open('calls', 'a+') as file:\n        file.write('x')\n"
    "        return sum(numbers) * (file.tell() < 2)",
    "temporary_file": "def total_of(numbers):\n    with open('/tmp/calls', 'a+') as file:\n"
    "        file.write('x')\n        return sum(numbers) * (file.tell() < 2)",
}

try:
    backends.choose()
except backends.NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def sandboxes(course):
    with course.make_sandbox() as first, course.make_sandbox() as second:
        yield first, second


@pytest.fixture
def graded(course, sandboxes):
    """Return a function that grades a right submission with another answer to `total`."""

    def graded(source=None):
        lesson = course.lesson(LESSON)
        notebook = nbformat.from_dict(lesson.source)
        if source is not None:
            cell_of(notebook, "total_answer").source = source
        return examine(sandboxes, lesson, notebook, lesson.files(), SEED).exercises

    return graded


def status(exercises):
    return [exercises[name]["status"] for name in NAMES]


def test_right_answers_stay_right(graded):
    assert status(graded()) == ["right"] * 3


@pytest.mark.parametrize("counter", COUNTERS)
def test_answer_that_counts_its_calls_earns_nothing(graded, counter):
    found = graded(COUNTERS[counter])
    assert status(found) == ["wrong", "right", "right"]
    assert (found["total"]["points"], found["total"]["mistake"]) == (0, "wrong_total")
    assert found["total"]["message"].startswith(ONLY_AT_FIRST["other inputs"])


def test_answer_for_the_first_inputs_alone_earns_nothing(course, graded):
    first = evidence.decode(Judge(course.lesson(LESSON), SEED).handout("total")().inputs)["numbers"]
    found = graded(f"def total_of(numbers):\n    return sum(numbers) * (numbers[0] == {first[0]})")
    assert status(found) == ["wrong", "right", "right"]
    assert found["total"]["message"].startswith(ONLY_AT_FIRST["other inputs"])


def test_wrong_answer_is_not_asked_again(sandboxes, graded, monkeypatch):
    asked, real = [], sandboxes[1].run
    monkeypatch.setattr(sandboxes[1], "run", lambda steps, *rest: asked.append(steps) or real(steps, *rest))
    found = graded("def total_of(numbers):\n    return 0")
    assert ONLY_AT_FIRST["the same inputs"] not in found["total"]["message"]
    assert [step.check for step in asked[0] if step.check] == ["largest"] * 2 + ["backwards"] * 2


def test_hashes_of_texts_differ_in_the_second_process(sandboxes):
    show = [Step(0, "print(hash('a text'))")]
    first, again, second = (sandbox.run(show, {})[0].text for sandbox in (*sandboxes[:1] * 2, sandboxes[1]))
    assert first == again != second


def test_kill_in_the_second_process_is_tried_again(sandboxes, graded, monkeypatch):
    real, killed = RunningSubmission.run_step, []

    def run_step(self, step, deadline):
        if step.check == "largest" and self._server is sandboxes[1]._server and not killed:
            killed.append(step.index)
            step = Step(step.index, "import os\nos.kill(os.getpid(), 9)")
        return real(self, step, deadline)

    monkeypatch.setattr(RunningSubmission, "run_step", run_step)
    assert (status(graded()), len(killed)) == (["right"] * 3, 1)


def test_crash_in_the_second_process_is_the_outcome(graded):
    found = graded(
        "import os\nCALLS = []\n\ndef total_of(numbers):\n    CALLS.append(1)\n"
        "    return sum(numbers) if len(CALLS) < 2 else os._exit(3)"
    )
    assert status(found) == ["crashed", "right", "right"]
    assert "exit status 3" in found["total"]["message"]


def test_fault_of_the_grader_in_the_second_process_is_no_mark(sandboxes, graded, monkeypatch):
    def fail(*arguments):
        raise GraderFaultError("the disk is full")

    monkeypatch.setattr(sandboxes[1], "run", fail)
    with pytest.raises(GraderFaultError):
        graded()

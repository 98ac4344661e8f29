"""A class of hostile folders, notebooks and replies, graded as a teacher does: nothing ends it.

Each submission is in the gradebook with the points that it deserves, its report says what was wrong, none is
a fault of the grader, and the honest ones beside them have their points.
"""

import json
import subprocess
import sys

import pytest
from nbgrader.api import Gradebook

from grading.course.result import GRADER_FAULT, Task
from grading.sandbox.isolation.backends import NoSandboxError, choose
from tests.grading.attacks.attack import ALL_POINTS
from tests.grading.hostile.folders import FOLDERS
from tests.grading.hostile.notebooks import NOTEBOOKS
from tests.grading.hostile.replies import REPLIES
from tests.grading.toy_course import LESSON, cell_of, make_course, submit

HOSTILE = {
    f"{kind}_{name}": attack
    for kind, attacks in (("folder", FOLDERS), ("notebook", NOTEBOOKS), ("reply", REPLIES))
    for name, attack in attacks.items()
}
HONEST = ("honest", "zoe")  # the first and the last
LIMITS = "c.Grading.limits = {'cell_seconds': 30, 'memory_mb': 1500}"

pytestmark = pytest.mark.proof
try:
    choose()
except NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)


def hand_in(course, name, attack):
    def change(notebook):
        cell_of(notebook, "total_answer").source = attack.total
        if attack.change is not None:
            attack.change(notebook)

    folder = submit(course, name, change)
    if attack.folder is not None:
        attack.folder(folder)


def grading(course, *words):
    command = [sys.executable, "-m", "grading", *words, "--course", str(course.root)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture(scope="module")
def graded(tmp_path_factory, request):
    # Those that -k leaves in.
    chosen = {test.callspec.params.get("name") for test in request.session.items if hasattr(test, "callspec")}
    course = make_course(tmp_path_factory.mktemp("course"), LIMITS)
    for name in HONEST:
        submit(course, name)
    for name, attack in HOSTILE.items():
        if name in chosen:
            hand_in(course, name, attack)
    yield course, grading(course, "grade", "--jobs", "2")
    # pytest removes old folders with a function that cannot remove these.
    subprocess.run(["chmod", "-R", "u+rwx", course.root], stderr=subprocess.DEVNULL)
    subprocess.run(["rm", "-rf", course.root], check=True)


@pytest.fixture(scope="module")
def scores(graded):
    course, _ = graded
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        return {one.student.id: one.score for one in gradebook.assignment_submissions(LESSON)}


def test_grading_ends_without_a_fault(graded):
    _, done = graded
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", HONEST)
def test_honest_submission_beside_them_has_its_points(graded, scores, name):
    course, _ = graded
    assert (scores[name], course.results.read(Task(LESSON, name))["status"]) == (ALL_POINTS, "right")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_submission_is_graded_and_reported(graded, scores, name):
    course, _ = graded
    attack, result = HOSTILE[name], course.results.read(Task(LESSON, name))
    assert result is not None
    seen = json.dumps([result["exercises"], result["findings"]], indent=1)
    assert result["status"] != GRADER_FAULT, seen
    assert scores[name] == result["points"] == attack.points, seen
    assert result["status"] in attack.statuses, seen
    assert attack.says in seen


@pytest.mark.parametrize("words", [["feedback"], ["report"], ["export", "--to", "marks.csv"], ["grade"]])
def test_every_later_step_ends_without_a_fault(graded, words):
    course, _ = graded
    done = grading(course, *words)
    assert (done.returncode, done.stderr) == (0, "")

"""Judging evidence of the toy lesson, without a sandbox."""

import json
import os

import numpy as np
import pytest

from course_utils.checks.core import evidence
from grading.notebook.restore import restore_notebook
from grading.sandbox.server_process import GraderFaultError
from grading.sandbox.steps import Reply
from grading.scoring.judge import Judge
from tests.grading.toy_course import LESSON, cell_of, make_course


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course")).lesson(LESSON)


@pytest.fixture
def solved(toy):
    notebook = json.loads(json.dumps(toy.source))
    return restore_notebook(json.dumps(notebook).encode(), toy.released).notebook


def _outcome(toy, notebook, reply, answer=None):
    judge = Judge(toy, 7)
    inputs = evidence.decode(judge.handout("total")().inputs)
    value = int(np.sum(inputs["numbers"]))
    if reply is None:
        reply = Reply(evidence=evidence.encode({"evidence": {"value": value}}))
    places = {name: notebook.cells.index(cell_of(notebook, name)) for name in ("total", "total_answer")}
    replies = {places["total"]: reply, places["total_answer"]: answer or Reply()}
    return judge.outcome("total", notebook, replies)


def test_right_evidence_earns_the_points(toy, solved):
    outcome = _outcome(toy, solved, None)
    assert (outcome["status"], outcome["points"]) == ("right", 2)


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply(evidence=evidence.encode({"evidence": {"value": 1}})), "wrong"),
        (Reply(evidence=b"rubbish"), "wrong"),
        (Reply(), "wrong"),
        (Reply("crashed", "died"), "crashed"),
        (Reply("timed out", "late"), "timed out"),
        (Reply("skipped", "no time"), "timed out"),
    ],
)
def test_other_replies_earn_nothing(toy, solved, reply, status):
    outcome = _outcome(toy, solved, reply)
    assert (outcome["status"], outcome["points"]) == (status, 0)


def test_crash_of_the_answer_cell_is_the_status_of_the_exercise(toy, solved):
    wrong = Reply(evidence=evidence.encode({"crash": "NameError"}))
    assert _outcome(toy, solved, wrong, Reply("crashed", "died"))["status"] == "crashed"


def test_inputs_depend_on_the_seed_alone(toy):
    first, again, other = Judge(toy, 1), Judge(toy, 1), Judge(toy, 2)
    assert first.handout("total")() == again.handout("total")()
    assert first.handout("total")() != other.handout("total")()


def test_check_that_cannot_make_inputs_is_a_grader_fault(toy, monkeypatch):
    monkeypatch.setattr(toy, "check", lambda name: None)
    with pytest.raises(GraderFaultError):
        Judge(toy, 1).handout("total")()


def test_evidence_that_is_too_much_for_a_judge_costs_only_its_own_exercise(toy, solved, monkeypatch):
    def outcome(self, name, notebook, replies, earlier):
        if name == "largest":
            os.abort()
        return self._not_judged(name, "is judged")

    monkeypatch.setattr(Judge, "outcome", outcome)
    found = Judge(toy, 7).outcomes(solved, {})
    assert found["largest"]["mistake"] == "too_much_to_judge"
    assert "memory" in found["largest"]["message"]
    assert all("it is judged" in found[name]["message"] for name in ("total", "backwards"))

"""Whose fault a failure is: the machine's is never a student's mark, and what may be is tried again."""

import errno
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from course_utils.checks.world.state import BaseWorld
from grading.sandbox import budgets, fork_server, server_process
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.protocol import HOME
from grading.sandbox.running_submission import RunningSubmission
from grading.sandbox.server_process import GraderFaultError, ServerProcess
from grading.sandbox.steps import Handout, Step
from tests.grading.ordinary_user import missing, run_as_ordinary_user

KINDS = [kind for kind in backends.KINDS if backends.works(kind)]
pytestmark = pytest.mark.skipif(not KINDS, reason="no sandbox works here")
LIMITS = Limits(cell_seconds=20, exercise_seconds=60, file_mb=4)
CHECK = {"check": "total", "module": "toy_checks.arithmetic"}
TOY = Path(__file__).parents[1] / "toy"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(KINDS[0], (), LIMITS, readable=[TOY], module_folders=[TOY]) as sandbox:
        sandbox.run([Step(0, "1")], {})
        yield sandbox


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One entry for each sandbox started."""
    started: list[object] = []
    real = ServerProcess.__init__
    monkeypatch.setattr(
        ServerProcess, "__init__", lambda self, *settings: (started.append(self), real(self, *settings))[1]
    )
    return started


def test_late_start_is_never_taken_for_a_later_answer(tmp_path, monkeypatch):
    """A sandbox that starts too late is a fault; the next one starts afresh, and its answers are its own."""
    (tmp_path / "slow_import.py").write_text("import time\ntime.sleep(3)")
    with Sandbox("none", ("slow_import",), LIMITS, module_folders=[tmp_path]) as sandbox:
        monkeypatch.setattr(server_process, "START_SECONDS", 0.3)
        with pytest.raises(GraderFaultError, match="no answer"):
            sandbox.run([Step(0, "1")], {})
        monkeypatch.undo()
        (tmp_path / "slow_import.py").write_text("")
        steps = [Step(0, "print('first')"), Step(1, "print('second')")]
        assert [reply.text for reply in sandbox.run(steps, {}).values()] == ["first\n", "second\n"]


@pytest.mark.parametrize(
    ("error", "whose"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "grader"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "grader"),
        (OSError(errno.ENOSPC, "No space left on device"), "either"),
        (OSError(errno.EEXIST, "File exists"), "either"),
    ],
    ids=str,
)
def test_only_what_a_submission_can_cause_is_reported_as_its_doing(error, whose):
    def bind():
        raise error

    if whose == "either":
        assert error.strerror in fork_server._problem(bind)
    else:
        with pytest.raises(OSError, match=error.strerror):
            fork_server._problem(bind)


def test_socket_that_cannot_be_made_is_tried_again_before_that_is_the_answer(sandbox, starts, monkeypatch):
    """A submission may have filled its disk."""
    real = ServerProcess.ask

    def ask(self, message, *descriptors):
        if message["action"] == "open_socket":
            return "No space left on device"
        return real(self, message, *descriptors)

    monkeypatch.setattr(ServerProcess, "ask", ask)
    handout = Handout(b"", world=BaseWorld)
    reply = sandbox.run([Step(0, "total_of, ", **CHECK, handout=lambda: handout)], {})[0]
    assert (reply.outcome, "No space left" in reply.reason, len(starts)) == ("crashed", True, 1)


def test_kill_from_outside_is_tried_again_in_a_fresh_sandbox(sandbox, starts, monkeypatch):
    """As by the machine's out-of-memory killer."""
    real, tries = RunningSubmission.run_step, []

    def run_step(self, step, deadline):
        tries.append(step.source)
        if len(tries) == 2:
            step = Step(step.index, "import os\nos.kill(os.getpid(), 9)")
        return real(self, step, deadline)

    monkeypatch.setattr(RunningSubmission, "run_step", run_step)
    replies = sandbox.run([Step(0, "x = 1"), Step(1, "print(x)")], {})
    assert [(reply.outcome, reply.text) for reply in replies.values()] == [("done", ""), ("done", "1\n")]
    assert len(starts) == 1


def test_kill_that_happens_again_is_the_answers_own(sandbox, starts):
    reply = sandbox.run([Step(0, "import os\nos.kill(os.getpid(), 9)")], {})[0]
    assert (reply.outcome, reply.reason) == ("crashed", "The process died while this cell ran: Killed.")
    assert len(starts) == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import os\nos._exit(3)", "exit status 3"),
        ("import ctypes\nctypes.string_at(0)", "Segmentation fault"),
        ("import os\nos.closerange(3, 99)\nimport time\ntime.sleep(9)", "closed its connection"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)", "processor time"),
    ],
)  # fmt: skip
def test_end_of_a_process_is_named_and_not_doubted(sandbox, starts, source, reason):
    reply = sandbox.run([Step(0, source)], {})[0]
    assert (reply.outcome, len(starts)) == ("crashed", 0)
    assert reason in reply.reason


def test_error_of_an_exhausted_machine_is_tried_again(sandbox, starts):
    reply = sandbox.run([Step(0, "raise OSError(11, 'Resource temporarily unavailable')")], {})[0]
    assert (reply.outcome, len(starts)) == ("done", 1)
    assert "Errno 11" in reply.error


def four_slow_exercises() -> list[Step]:
    slow = "import time\ntime.sleep(99)"
    return [step for n in range(4) for step in (Step(2 * n, slow), Step(2 * n + 1, "()", **CHECK))]


@pytest.mark.proof
def test_slow_exercises_take_no_time_from_the_others():
    limits = Limits(cell_seconds=2, exercise_seconds=2)
    with Sandbox(KINDS[0], (), limits, module_folders=[TOY], readable=[TOY]) as sandbox:
        replies = sandbox.run([*four_slow_exercises(), Step(8, "print('right')")], {})
    assert [replies[2 * n].outcome for n in range(4)] == ["timed out"] * 4
    assert [replies[2 * n + 1].outcome for n in range(4)] == ["done"] * 4
    assert (replies[8].outcome, replies[8].text) == ("done", "right\n")


def test_each_exercise_has_its_own_time(monkeypatch):
    monkeypatch.setattr(budgets, "time", clock := SimpleNamespace(monotonic=lambda: clock.now, now=100.0))
    steps = [*four_slow_exercises(), Step(8, "1")]
    shared = budgets.Budgets(steps, Limits(cell_seconds=60, exercise_seconds=100))
    for step in steps[:-1:2]:
        assert shared.deadline(step, again=False) == clock.now + 60
        shared.spend(step, 60)
        assert shared.deadline(step, again=False) == clock.now + 40
        shared.spend(step, 40)
        assert shared.deadline(step, again=False) is None
    assert shared.deadline(steps[-1], again=False) == clock.now + 60


def test_cells_that_run_again_cost_their_exercise_nothing_but_the_whole_is_bounded(monkeypatch):
    monkeypatch.setattr(budgets, "time", clock := SimpleNamespace(monotonic=lambda: clock.now, now=100.0))
    steps = four_slow_exercises()
    shared = budgets.Budgets(steps, Limits(cell_seconds=60, exercise_seconds=100))
    shared.spend(steps[0], 100)
    assert shared.deadline(steps[0], again=True) == clock.now + 60
    clock.now += 2 * 5 * 100
    assert shared.deadline(steps[0], again=True) is None
    assert shared.deadline(steps[-1], again=False) is None


def test_a_doubted_step_gets_more_time_within_the_whole(monkeypatch):
    monkeypatch.setattr(budgets, "time", clock := SimpleNamespace(monotonic=lambda: clock.now, now=100.0))
    steps = four_slow_exercises()
    shared = budgets.Budgets(steps, Limits(cell_seconds=60, exercise_seconds=100))
    assert shared.deadline(steps[0], again=False, doubted=True) == clock.now + 180
    clock.now += 950
    assert shared.deadline(steps[0], again=False, doubted=True) == clock.now + 50


def test_more_crashes_than_exercises_skip_nothing(sandbox):
    steps = [Step(n, "import os\nos._exit(1)") for n in range(12)]
    replies = sandbox.run([*steps, Step(12, "print('right')")], {})
    assert {replies[n].outcome for n in range(12)} == {"crashed"}
    assert replies[12].text == "right\n"


RUN_UNPROTECTED = """
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.steps import Step
with Sandbox("none", (), Limits(cell_seconds=20)) as sandbox:
    steps = [Step(0, "import os\\nprint(open('data.txt').read(), os.getcwd() == os.path.expanduser('~'))")]
    print(sandbox.run(steps, {"data.txt": b"hello"})[0])
"""


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_no_sandbox_works_for_an_ordinary_user_without_a_home(tmp_path):
    done = run_as_ordinary_user(RUN_UNPROTECTED, tmp_path)
    assert "text='hello True\\n'" in done.stdout, done.stderr
    assert not Path(HOME).exists()

"""The verdict on who owns a handle is no race: 200 runs, one verdict."""

import pytest

from tests.bank import BANK, Answer
from tests.checks.in_process import judge

FOLDER = BANK / "multi_worker_handles" / "handle_per_process"


@pytest.mark.parametrize("name", ["right_keyed_by_pid.py", "wrong_one_for_all.diff"])
def test_a_hundred_runs_give_one_verdict(name):
    judge(Answer(FOLDER / name), range(100))

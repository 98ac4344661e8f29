"""The verdict on who owns a handle is no race: 200 runs, one verdict."""

import pytest

from tests.bank import answer
from tests.checks.in_process import judge


@pytest.mark.parametrize("name", ["right_keyed_by_pid", "wrong_one_for_all"])
def test_a_hundred_runs_give_one_verdict(name):
    judge(answer("multi_worker_handles", "handle_per_process", name), range(100))

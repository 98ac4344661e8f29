"""The check for shared handles does not depend on a race: its verdict is the same in every run."""

import pytest

from grading.answers.bank import answer
from tests.checks.bank_verdicts import assert_verdict


@pytest.mark.parametrize("runs", [5, pytest.param(50, marks=pytest.mark.proof)])
@pytest.mark.parametrize("name", ["right_keyed_by_pid", "wrong_one_handle_for_all"])
def test_verdict_is_the_same_in_every_run(name, runs):
    assert_verdict(answer("multi_worker_handles", "handle_per_process", name), range(runs))

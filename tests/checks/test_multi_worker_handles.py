import pytest

from tests.bank import answers
from tests.checks.in_process import judge


@pytest.mark.parametrize("answer", answers("multi_worker_handles"), ids=str)
def test_an_answer_gets_the_verdict_that_its_file_says(answer):
    judge(answer)

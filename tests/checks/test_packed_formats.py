import pytest

from tests.bank import answers
from tests.checks.bank_verdicts import assert_verdict


@pytest.mark.parametrize("answer", answers("packed_formats"), ids=str)
def test_answer_gets_the_verdict_of_its_file(answer):
    assert_verdict(answer)

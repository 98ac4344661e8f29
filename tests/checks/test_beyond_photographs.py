import pytest

from tests.checks.bank_verdicts import assert_verdict, bank_of


@pytest.mark.parametrize("answer", bank_of("beyond_photographs"))
def test_answer_gets_the_verdict_of_its_file(answer):
    assert_verdict(answer)

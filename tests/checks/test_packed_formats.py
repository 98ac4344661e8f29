import pytest

from tests.bank import Answer, answers
from tests.checks.bank_verdicts import assert_verdict

# These checks start processes: `make test` gives them all right answers and one wrong one, `make proofs` all.
SLOW = ("repair_tar", "write_shards")
BANK = answers("packed_formats")
FIRST_WRONG = {answer.check: answer for answer in reversed(BANK) if answer.mistake}


def marks(answer: Answer) -> list[pytest.MarkDecorator]:
    quick = answer.check not in SLOW or not answer.mistake or answer == FIRST_WRONG[answer.check]
    return [] if quick else [pytest.mark.proof]


@pytest.mark.parametrize("answer", [pytest.param(one, marks=marks(one), id=str(one)) for one in BANK])
def test_answer_gets_the_verdict_of_its_file(answer):
    assert_verdict(answer)

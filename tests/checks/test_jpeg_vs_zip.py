import numpy as np
import pytest

from course_utils.checks import jpeg_vs_zip
from course_utils.checks.core import evidence
from course_utils.checks.core.check import CheckFailed, Mistake
from grading.answers.bank import answers
from tests.checks.bank_verdicts import assert_verdict, bank_of

ANSWERS = answers("jpeg_vs_zip")
CHECKS = sorted({answer.check for answer in ANSWERS})


@pytest.mark.parametrize("answer", bank_of("jpeg_vs_zip"))
def test_answer_gets_the_verdict_of_its_file(answer):
    assert_verdict(answer)


@pytest.mark.parametrize("name", CHECKS)
def test_unsolved_exercise_fails_with_its_own_message(name):
    def stub(*args, **kwargs):
        raise NotImplementedError

    with pytest.raises(CheckFailed) as caught:
        getattr(jpeg_vs_zip, name)(stub)
    assert caught.value.mistake == "not_written_yet"


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("forged", [None, 3, [], {}, {"value": 1}, [{"value": None}] * 4])
def test_judge_rejects_evidence_of_another_form(name, forged):
    check = getattr(jpeg_vs_zip, name)
    truth = check.make(np.random.default_rng(0))[1]
    with pytest.raises(Mistake):
        check.verdict(truth, evidence.encode({"evidence": forged}))

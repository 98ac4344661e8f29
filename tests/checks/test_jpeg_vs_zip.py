import numpy as np
import pytest

from course_utils.checks import jpeg_vs_zip
from course_utils.checks.core import evidence
from course_utils.checks.core.check import CheckFailed, Mistake
from tests.bank import answers
from tests.checks.in_process import judge

ANSWERS = answers("jpeg_vs_zip")
CHECKS = sorted({answer.check for answer in ANSWERS})


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
def test_an_answer_gets_the_verdict_that_its_file_says(answer):
    judge(answer)


@pytest.mark.parametrize("name", CHECKS)
def test_an_answer_that_is_not_written_yet_is_told_so(name):
    def stub(*arguments, **options):
        raise NotImplementedError

    with pytest.raises(CheckFailed, match="NotImplementedError"):
        getattr(jpeg_vs_zip, name)(stub)


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("forged", [None, 3, [], {}, {"value": 1}, [{"value": None}] * 4])
def test_a_judge_takes_no_evidence_of_another_form(name, forged):
    check = getattr(jpeg_vs_zip, name)
    truth = check.make(np.random.default_rng(0))[1]
    with pytest.raises(Mistake):
        check.verdict(truth, evidence.encode({"evidence": forged}))

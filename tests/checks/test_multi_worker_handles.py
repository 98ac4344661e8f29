from pathlib import Path

import numpy as np
import pytest

from course_utils.checks import multi_worker_handles
from course_utils.checks.core.check import CheckFailed, Mistake
from course_utils.checks.multi_worker_handles.million_labels import COUNT, STRIDE
from grading.answers.bank import answers
from grading.answers.verdicts import check_arguments
from tests.checks.bank_verdicts import assert_verdict, bank_of

SHARING = [one for one in answers("multi_worker_handles") if one.mistake == "shared_between_datasets"]


@pytest.mark.parametrize("answer", bank_of("multi_worker_handles"))
def test_answer_gets_the_verdict_of_its_file(answer):
    assert_verdict(answer)


def test_missing_label_reports_wrong_length_even_if_the_last_label_is_sampled():
    check = multi_worker_handles.million_labels
    inputs, truth = check.make(np.random.default_rng(0))
    inputs["start"] = (COUNT - 1) % STRIDE

    def load_labels(path: Path) -> np.ndarray:
        return np.array(path.read_text().split()[1:], np.uint16)

    found = check.probe(inputs, load_labels)
    with pytest.raises(Mistake, match="999,999"):
        check.judge(truth, found)


@pytest.mark.slow
@pytest.mark.parametrize("answer", SHARING, ids=str)
def test_what_datasets_share_is_named_by_each_call_in_one_notebook(answer):
    """The second call finds in the shared tables what the first one has left there."""
    check, arguments = getattr(multi_worker_handles, answer.check), check_arguments(answer)
    for _ in range(2):
        with pytest.raises(CheckFailed) as failed:
            check(*arguments)
        assert failed.value.mistake == answer.mistake, str(failed.value)

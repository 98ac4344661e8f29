from pathlib import Path

import numpy as np
import pytest

from course_utils.checks import multi_worker_handles
from course_utils.checks.core.check import Mistake
from course_utils.checks.multi_worker_handles.million_labels import COUNT, STRIDE
from tests.bank import answers
from tests.checks.in_process import judge


@pytest.mark.parametrize("answer", answers("multi_worker_handles"), ids=str)
def test_an_answer_gets_the_verdict_that_its_file_says(answer):
    judge(answer)


def test_a_line_too_few_is_called_so_even_where_the_last_one_would_be_read():
    check = multi_worker_handles.million_labels
    inputs, truth = check.make(np.random.default_rng(0))
    inputs["start"] = (COUNT - 1) % STRIDE

    def load_labels(path: Path) -> np.ndarray:
        return np.array(path.read_text().split()[1:], np.uint16)

    found = check.probe(inputs, load_labels)
    with pytest.raises(Mistake, match="999,999"):
        check.judge(truth, found)

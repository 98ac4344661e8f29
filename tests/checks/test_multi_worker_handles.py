from pathlib import Path

import numpy as np
import pytest

from course_utils.checks import million_labels
from course_utils.checks.core.check import Mistake
from tests.bank import answers
from tests.checks.in_process import judge


@pytest.mark.parametrize("answer", answers("multi_worker_handles"), ids=str)
def test_an_answer_gets_the_verdict_that_its_file_says(answer):
    judge(answer)


def test_a_line_too_few_is_called_so_even_where_the_last_one_would_be_read():
    inputs, truth = million_labels._make(np.random.default_rng(0))
    inputs["start"] = (million_labels.COUNT - 1) % million_labels.STRIDE

    def load_labels(path: Path) -> np.ndarray:
        return np.array(path.read_text().split()[1:], np.uint16)

    found = million_labels._probe(inputs, load_labels)
    with pytest.raises(Mistake, match="999,999"):
        million_labels._judge(truth, found)

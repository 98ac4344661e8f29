import random

import numpy as np
import torch

from course_utils.checks.core.generators import as_in_process, generator_states


def draw_all():
    return random.random(), np.random.random(), torch.rand(1).item()  # noqa: NPY002


def test_process_has_states_of_its_own_and_leaves_those_outside():
    before, changed, drawn = generator_states(), set[str](), []
    for number in (1, 2, 1):
        with as_in_process(number, changed):
            drawn.append(draw_all())
    assert generator_states() == before
    assert drawn[0] == drawn[2]
    assert all(one != other for one, other in zip(drawn[0], drawn[1], strict=True))


def test_names_the_generators_that_a_block_changes():
    changed = set[str]()
    with as_in_process(1, changed):
        random.Random(1).random()
        np.random.default_rng(1).random()
    assert changed == set()
    with as_in_process(1, changed):
        torch.rand(1)
    with as_in_process(1, changed):
        np.random.seed(2)  # noqa: NPY002
    assert changed == {"torch", "np.random"}

import random

import numpy as np
import torch

from course_utils.checks.core.generators import ProcessGenerators, generator_states


def draw_all():
    return random.random(), np.random.random(), torch.rand(1).item()  # noqa: NPY002


def test_processes_have_states_of_their_own_and_leave_those_outside():
    before, drawn = generator_states(), []
    with ProcessGenerators() as generators:
        for number in (1, 2, 1):
            with generators.of_process(number):
                drawn.append(draw_all())
    assert generator_states() == before
    assert drawn[0] == drawn[2]
    assert all(one != other for one, other in zip(drawn[0], drawn[1], strict=True))


def test_names_the_generators_that_a_block_changes():
    with ProcessGenerators() as generators:
        with generators.of_process(1):
            random.Random(1).random()
            np.random.default_rng(1).random()
        assert generators.changed == set()
        with generators.of_process(1):
            torch.rand(1)
        with generators.of_process(2):
            np.random.seed(1)  # noqa: NPY002
    assert generators.changed == {"torch", "np.random"}

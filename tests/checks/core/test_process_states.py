import random

import numpy as np
import torch

from course_utils.checks.core.process_states import ProcessStates, generator_states

OUTSIDE = hash("one"), hash((1, "one"))
HASHES = [*OUTSIDE, hash((1, 2))]


def draw_all():
    return random.random(), np.random.random(), torch.rand(1).item()  # noqa: NPY002


def test_processes_have_states_of_their_own_and_leave_those_outside():
    before, drawn = generator_states(), []
    with ProcessStates() as processes:
        for number in (1, 2, 1):
            with processes.of_process(number):
                drawn.append(draw_all())
    assert generator_states() == before
    assert drawn[0] == drawn[2]
    assert all(one != other for one, other in zip(drawn[0], drawn[1], strict=True))


def test_names_the_generators_that_a_block_changes():
    with ProcessStates() as processes:
        with processes.of_process(1):
            random.Random(1).random()
            np.random.default_rng(1).random()
        assert processes.changed == set()
        with processes.of_process(1):
            torch.rand(1)
        with processes.of_process(2):
            np.random.seed(1)  # noqa: NPY002
    assert processes.changed == {"torch", "np.random"}


def test_each_process_has_another_hash_of_a_text():
    with ProcessStates() as processes:
        for number in (1, 2):
            with processes.of_process(number):
                assert hash("one") != HASHES[0]
                assert hash((1, "one")) != HASHES[1]
                assert hash((1, 2)) == HASHES[2]
                HASHES[:2] = hash("one"), hash((1, "one"))
    assert (hash("one"), hash((1, "one"))) == OUTSIDE

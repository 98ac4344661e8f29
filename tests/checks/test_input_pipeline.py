import numpy as np
import pytest

from course_utils.checks.input_pipeline.reproducible_loader import World, stable
from tests.checks.bank_verdicts import assert_verdict, bank_of


@pytest.mark.parametrize("answer", bank_of("input_pipeline"))
def test_answer_gets_the_verdict_of_its_file(answer):
    assert_verdict(answer)


TRUTH = {"length": 3, "batch_size": 2, "seed": 1, "key": b"k"}


def world_of(order: list[int], noise: float) -> World:
    """A world in which one epoch was loaded in this order."""
    world = World(TRUTH)
    world.start_run()
    world.start_epoch(0)
    for calls, index in enumerate(order):
        world.calls = calls
        world.batch(0, [world.load(0, index, noise + index)], 0.0)
    batches = world.runs[0].epochs[0]
    world.runs[0].epochs[0] = [batches[0] + batches[1], batches[2]]
    return world


def test_epochs_must_be_the_same_in_each_process():
    first, same, order, noise = (
        np.array(stable(TRUTH, {}, world)).tolist()
        for world in (
            world_of([2, 0, 1], 0.5),
            world_of([2, 0, 1], 0.5),
            world_of([2, 1, 0], 0.5),
            world_of([2, 0, 1], 0.25),
        )
    )
    assert first == same
    assert first not in (order, noise)

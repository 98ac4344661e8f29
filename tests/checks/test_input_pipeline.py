import pytest

from course_utils.checks.core.check import Mistake
from course_utils.checks.input_pipeline.reproducible_loader import World, agree
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


def test_epochs_of_two_processes_must_agree():
    agree(TRUTH, world_of([2, 0, 1], 0.5), world_of([2, 0, 1], 0.5))
    for other in (world_of([2, 1, 0], 0.5), world_of([2, 0, 1], 0.25)):
        with pytest.raises(Mistake) as raised:
            agree(TRUTH, world_of([2, 0, 1], 0.5), other)
        assert raised.value.name == "differs_by_process"

import pytest

from course_utils.fakes.scripted_machine import LAUNCH_SECONDS, ScriptedMachine


def epoch_seconds(machine, wait=False):
    start = machine.clock()
    for batch in machine.loader:
        machine.step(batch)
        if wait:
            machine.device.synchronize()
    machine.device.synchronize()
    return machine.clock() - start


def test_loading_overlaps_computing_unless_the_host_waits():
    load = [2.0] * 10
    assert epoch_seconds(ScriptedMachine(load, compute=3.0)) == pytest.approx(2 + 10 * 3, rel=1e-4)
    assert epoch_seconds(ScriptedMachine(load, compute=3.0), wait=True) == pytest.approx(
        10 * (2 + 3), rel=1e-4
    )


def test_first_epoch_and_first_step_are_slow():
    machine = ScriptedMachine([1.0] * 4, compute=0.5, cold=3.0, warm_up=10.0)
    assert epoch_seconds(machine) == pytest.approx(3 * 4 + 0.5, rel=1e-4)
    assert epoch_seconds(machine) == pytest.approx(4 + 0.5, rel=1e-4)


def test_every_epoch_has_the_same_batches_and_its_loading_time():
    machine = ScriptedMachine([1.0, 2.0], compute=0.0)
    assert list(machine.loader) == list(machine.loader) == [0, 1]
    assert len(machine.loader) == 2
    assert machine.clock() == 6


def test_queuing_a_step_takes_only_the_launch_time():
    machine = ScriptedMachine([0.0], compute=5.0)
    machine.step(0)
    assert machine.clock() == LAUNCH_SECONDS

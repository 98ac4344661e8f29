"""The engine of the simulated GPU: what its users may do, here and through a world outside."""

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.checks.world.handle import WorldError
from course_utils.checks.world.server import open_world
from course_utils.checks.world.state import BaseWorld, Part
from course_utils.fakes.cuda import FakeCuda, HostBatch
from course_utils.fakes.engine import FOR_USERS, GpuEngine

FOR_TESTERS = frozenset({"host_tensor", "kernel", "run_host", "fill", "value", "values_read"})
OPERATIONS = [
    "copy",
    "blocking copy",
    "unpinned",
    "stream",
    "default",
    "kernel",
    "record",
    "drop",
    "load",
    "wait",
]


class World(BaseWorld):
    def __init__(self, served=FOR_USERS):
        self.engine = GpuEngine(strict=False)
        self.parts = [Part(self.engine, served)]


def use(gpu, operations):
    """Do a sequence of operations on a device, as a prefetching wrapper and its loop do."""
    side, held, current = gpu.Stream(), [], gpu.default_stream()
    for number, operation in enumerate(operations):
        with gpu.stream(current):
            if operation in ("copy", "blocking copy", "unpinned"):
                host = HostBatch(gpu, number, pinned=operation != "unpinned")
                held.append(host.to("cuda", non_blocking=operation != "blocking copy"))
            elif operation == "kernel":
                gpu.kernel(2.5, *held[-2:])
            elif operation == "record" and held:
                held[-1].record_stream(gpu.default_stream())
            elif operation == "drop" and held:
                del held[0]
                gc.collect(0)
            elif operation == "wait":
                gpu.default_stream().wait_event(side.record_event())
            elif operation == "load":
                gpu.run_host(0.5)
        current = {"stream": side, "default": gpu.default_stream()}.get(operation, current)
    gpu.synchronize()


@settings(max_examples=30)
@given(st.lists(st.sampled_from(OPERATIONS), max_size=40))
def test_device_behaves_alike_here_and_in_a_world(operations):
    here, world = FakeCuda(strict=False), World(FOR_USERS | FOR_TESTERS)
    use(here, operations)
    with open_world(world) as handle:
        use(FakeCuda(engine=handle.part(1)), operations)
    assert (here.log, here.races, here.now, here.waits) == (
        world.engine.log,
        world.engine.races,
        world.engine.now,
        world.engine.waits,
    )


def test_users_can_call_every_operation_but_those_of_testers():
    public = {name for name in vars(GpuEngine) if not name.startswith("_")}
    assert public == FOR_USERS | FOR_TESTERS


@pytest.mark.parametrize(
    "operation", sorted(FOR_TESTERS | {"now", "log", "races", "_block_host", "__init__"})
)
def test_users_reach_neither_clock_nor_record(operation):
    with open_world(World()) as handle, pytest.raises(WorldError, match="KeyError"):
        handle.part(1).call(operation)


def test_part_that_does_not_exist_is_refused():
    with open_world(World()) as handle, pytest.raises(WorldError, match="IndexError"):
        handle.part(2).current_stream()


@pytest.mark.parametrize(
    "operation", ["free", "pin", "set_stream", "synchronize_stream", "synchronize_event"]
)
@pytest.mark.parametrize("number", [-1, 7])
def test_unknown_number_is_refused(operation, number):
    with pytest.raises(KeyError):
        getattr(GpuEngine(), operation)(number)


def test_memory_cannot_be_freed_twice():
    engine = GpuEngine()
    tensor = engine.copy(engine.host_tensor(1, pinned=True), non_blocking=True)
    engine.free(tensor)
    with pytest.raises(KeyError):
        engine.free(tensor)

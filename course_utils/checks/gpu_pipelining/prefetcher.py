"""Check a wrapper that copies the next batch to the device while the current one is computed."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise, zip_longest
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import NOT_WRITTEN_YET, Attempt, Inputs, Mistake, Truth, attempt, value_of
from course_utils.checks.world.handle import Handle
from course_utils.checks.world.state import BaseWorld, Part
from course_utils.fakes import FOR_USERS, DeviceBatch, FakeCuda, GpuEngine, HostBatch

FARTHEST_AHEAD = 8
DEFAULT_STREAM = 0


class Times(TypedDict):
    """Seconds of simulated time per batch, `copy` per tensor of it; whether the loop waits for each step."""

    load: float
    copy: float
    compute: float
    loop_waits: bool


class Scenario(Times):
    """An epoch on the simulated device: its times, and the values of each batch's two tensors."""

    batches: int
    values: list[list[int]]


class Epoch(GpuEngine):
    """An epoch of a training on the simulated device, and the record of what happened in it.

    Attributes:
        on_device: Whether all batches that arrived were on the device.
        used: The values of the batches that arrived.
        ahead: Of how many batches, with the one to compute, the copy was queued at most when one arrived.
        drains_of_host: How often the host waited until the device had nothing to do, the end of the training
            left out.
        complete: Whether the training came to its end.
    """

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(copy_seconds=scenario["copy"], strict=False)
        self._scenario, self._loaded, self._copied = scenario, 0, 0
        self.on_device, self.used, self.ahead = True, list[list[object]](), 0
        self.drains_of_host, self.complete = 0, False

    def load(self) -> list[int] | None:
        """Load the next batch into pinned memory; return its tensors, or None after the last one."""
        if self._loaded == len(self._scenario["values"]):
            return None
        self.run_host(self._scenario["load"])
        self._loaded += 1
        return [self.host_tensor(value, pinned=True) for value in self._scenario["values"][self._loaded - 1]]

    def copy(self, host: int, non_blocking: bool) -> int:
        """Queue a copy, as every device does, and count it."""
        self._copied += 1
        return super().copy(host, non_blocking)

    def train(self, tensors: list[int]) -> None:
        """Compute with the tensors of a batch that has arrived."""
        self.ahead = max(self.ahead, self._copied // 2 - len(self.used))
        self.used.append([self.value(tensor) for tensor in tensors])
        self.kernel(self._scenario["compute"], tensors)
        if self._scenario["loop_waits"]:  # as a loop does that reads the loss
            self.synchronize_stream(self.current_stream())

    def train_on_host(self) -> None:
        """Take note of a batch that arrived in host memory."""
        self.on_device = False

    def finish(self) -> None:
        """Wait for the end of the training."""
        self.drains_of_host, self.complete = self.drains, True
        self.synchronize()


class World(BaseWorld):
    """The simulated devices, one for each epoch; the values of the batches never leave them."""

    def __init__(self, truth: Truth) -> None:
        self.epochs = [Epoch(scenario) for scenario in truth["scenarios"]]
        served = FOR_USERS | {"load", "train", "train_on_host", "finish"}
        self.parts = [Part(epoch, served) for epoch in self.epochs]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw epochs dominated by computing, copying or loading, one of a loop that waits, and short ones.

    The last two are read in turn.
    """
    times: list[Times] = [
        {"load": 0.5, "copy": 1.0, "compute": 6.0, "loop_waits": False},
        {"load": 0.5, "copy": 3.0, "compute": 2.0, "loop_waits": False},
        {"load": 4.0, "copy": 1.5, "compute": 5.0, "loop_waits": False},
        {"load": 0.5, "copy": 2.0, "compute": 4.0, "loop_waits": True},
    ]
    lengths = [(t, int(rng.integers(22, 28))) for t in times]
    lengths += [(times[0], 1), (times[0], 0), (times[0], 6), (times[1], 5)]
    scenarios = [_scenario(rng, t, batches) for t, batches in lengths]
    return {"epochs": len(scenarios)}, {"scenarios": scenarios}


def _scenario(rng: np.random.Generator, times: Times, batches: int) -> Scenario:
    return {
        **times,
        "batches": batches,
        "values": rng.choice(10_000, (batches, 2), replace=False).tolist(),
    }


def probe(inputs: Inputs, world: Handle, prefetch: Callable[..., Iterable[Any]]) -> list[Attempt]:
    """Train through the wrapper on simulated GPUs, which record what happens on them.

    Returns:
        The error, if there was one, of each epoch up to the first that has one; last of the two that are read
        alternately.
    """
    epochs = [_train(world.part(1 + number), prefetch) for number in range(inputs["epochs"])]
    found = []
    for steps in (*epochs[:-2], zip_longest(*epochs[-2:])):
        found.append(attempt(partial(_go_through, steps)))
        if "error" in found[-1]:
            break
    return found


def _go_through(steps: Iterator[object]) -> None:
    for _ in steps:
        pass


class Loader:
    """Any iterable of batches: it has no length, and `next` needs an iterator of it."""

    def __init__(self, gpu: FakeCuda) -> None:
        self._gpu = gpu

    def __iter__(self) -> Iterator[list[HostBatch]]:
        while (tensors := self._gpu.call("load")) is not None:
            yield [HostBatch(self._gpu, number=tensor) for tensor in tensors]


def _train(epoch: Handle, prefetch: Callable[..., Iterable[Any]]) -> Iterator[None]:
    """Train on one simulated GPU, one batch for each step of this iterator."""
    gpu = FakeCuda(engine=epoch)
    for batch in prefetch(Loader(gpu), "cuda", gpu):
        tensors = list(batch)
        if all(isinstance(tensor, DeviceBatch) for tensor in tensors):
            gpu.call("train", [tensor.number for tensor in tensors])
        else:
            gpu.call("train_on_host")
        yield
    gpu.call("finish")


def judge(truth: Truth, evidence: list[Attempt], world: World) -> str:
    """Check every epoch: all batches arrive, no race occurs, and it is as fast as overlap allows."""
    epochs = list(zip(truth["scenarios"], world.epochs, strict=True))
    for (scenario, _), attempted in zip(epochs[:-2], evidence, strict=False):
        _expect_no_crash(scenario, attempted)
    _expect_right(epochs[:-2])
    try:
        value_of(evidence[-1])
        _expect_right(epochs[-2:])
    except Mistake as mistake:
        raise Mistake(
            "shares_state",
            "Each epoch is right by itself, but two that are read in turn disturb each other. Keep streams "
            "and batches in variables of each call of prefetch, not in global ones or on a class.",
        ) from mistake
    if not all(epoch.complete for _, epoch in epochs):
        raise Mistake("no_evidence", "The training through your wrapper did not come to its end.")
    return (
        "Every batch arrives once and in order, no kernel reads memory before its copy is done or after it "
        "was freed, and an epoch takes as long as the longest of loading, copying and computing."
    )


def _expect_no_crash(scenario: Scenario, attempted: Attempt) -> None:
    error = attempted.get("error", "")
    if "torch.cuda" in error or "CUDA" in error or "NVIDIA" in error:
        raise Mistake(
            "uses_torch_cuda",
            "Your code uses torch.cuda. Use the argument `cuda`, which is the fake here: its streams, events "
            f"and current stream know nothing of the real device. ({error})",
        )
    try:
        value_of(attempted)
    except Mistake as mistake:
        if scenario["batches"] or mistake.name == NOT_WRITTEN_YET:
            raise
        message = f"With an empty loader, which yields nothing: {mistake.message}"
        raise Mistake(mistake.name, message) from mistake


def _expect_right(epochs: list[tuple[Scenario, Epoch]]) -> None:
    for scenario, epoch in epochs:
        if not epoch.on_device:
            raise Mistake(
                "not_copied", "Your wrapper yields batches that are still in host memory: use .to(device)."
            )
        _expect_all_batches(scenario, epoch)
    for scenario, epoch in epochs:
        _expect_no_race(scenario, epoch)
    for _, epoch in epochs:
        _expect_stream_of_training(epoch)
    for scenario, epoch in epochs:
        _expect_no_host_waits(scenario, epoch)
        _expect_overlap(scenario, epoch)


def _expect_all_batches(scenario: Scenario, epoch: Epoch) -> None:
    used, values = epoch.used, scenario["values"]
    if used == values:
        return
    count = f"{len(used)} of {len(values)} batches arrive. "
    if used == values[:-1]:
        raise Mistake(
            "loses_the_last_batch",
            count + "The last one, copied ahead when the loader ended, is missing: yield it too.",
        )
    if used == values[1:]:
        raise Mistake(
            "loses_the_first_batch", count + "The first one is copied but never yielded: yield it too."
        )
    raise Mistake(
        "other_batches", count + "Yield each batch of the loader once, in order, with all its tensors."
    )


def _expect_no_race(scenario: Scenario, epoch: Epoch) -> None:
    pairs = [[value] for values in scenario["values"] for value in values]
    if "too early" in epoch.races:
        raise Mistake(
            "used_too_early",
            "A kernel reads a batch before its copy is done: it computes with stale memory, without any "
            "error. Let the computing stream wait for the copy, by wait_stream or an event, before you yield "
            "the batch.",
        )
    if "reused" in epoch.races or epoch.values_read() != pairs:
        raise Mistake(
            "memory_reused",
            "A batch is overwritten while a kernel still reads it. The memory was allocated on the side "
            "stream, and the allocator does not know that the computing stream uses it. Call record_stream "
            "on each tensor, with the stream that *computes*, or keep a reference to the batch until an "
            "event shows that its kernel is done.",
        )


def _expect_stream_of_training(epoch: Epoch) -> None:
    if any(entry.kind == "use" and entry.stream != DEFAULT_STREAM for entry in epoch.log):
        raise Mistake(
            "computes_on_another_stream",
            "The training computes on a stream of yours, which was the current one when you yielded a batch. "
            "Steps on several streams do not wait for each other. Use `with cuda.stream(s)` for the copies "
            "alone, and yield outside of it.",
        )


def _expect_no_host_waits(scenario: Scenario, epoch: Epoch) -> None:
    if scenario["loop_waits"] or epoch.drains_of_host <= scenario["batches"] / 2 + 1:
        return
    raise Mistake(
        "synchronises_every_step",
        f"In {scenario['batches']} steps the host waits {epoch.drains_of_host} times until the device has "
        "nothing left to do (synchronize, or a copy without non_blocking). Let streams wait for each other "
        "instead.",
    )


def _expect_overlap(scenario: Scenario, epoch: Epoch) -> None:
    load, copy, compute = stages = scenario["load"], 2 * scenario["copy"], scenario["compute"]
    step = max(load + compute, copy) if scenario["loop_waits"] else max(stages)
    allowed = scenario["batches"] * step + 2 * sum(stages)
    if epoch.ahead > FARTHEST_AHEAD:
        raise Mistake(
            "far_ahead",
            f"You copy {epoch.ahead - 1} batches ahead. They fill the memory of the device, and the first "
            "step waits for all of them to be loaded: one or two are enough.",
        )
    if epoch.now <= allowed:
        return
    loop = " whose loop waits for each step" if scenario["loop_waits"] else ""
    took = f"An epoch{loop} takes {epoch.now:.0f} s of simulated time; with overlap, {allowed:.0f} s. "
    copies, uses = ({row.stream for row in epoch.log if row.kind == what} for what in ("copy", "use"))
    if copies & uses:
        raise Mistake(
            "no_side_stream",
            took + "Copies and kernels are in one stream and cannot overlap: use a side stream for copies.",
        )
    if epoch.ahead < 2:
        raise Mistake(
            "nothing_ahead", took + "Start the copy of the next batch before you yield the current one."
        )
    if _waits_for_next_copy(scenario, epoch) > scenario["batches"] / 2:
        raise Mistake(
            "waits_for_the_next_copy",
            took + "Kernels wait for the copy of the next batch, too: wait_stream waits for all that is "
            "queued on the side stream at that moment. Call it before you queue the next copy, or record an "
            "event after each copy.",
        )
    raise Mistake(
        "no_overlap", took + "Something prevents copies from overlapping with kernels; look for a wait."
    )


def _waits_for_next_copy(scenario: Scenario, epoch: Epoch) -> int:
    """Count the batches whose kernel starts at the very moment when the copy of the next batch ends."""
    starts = {row.value: row.start for row in epoch.log if row.kind == "use"}
    ends = {row.value: row.end for row in epoch.log if row.kind == "copy"}
    return sum(starts[now[0]] == ends[after[-1]] for now, after in pairwise(scenario["values"]))

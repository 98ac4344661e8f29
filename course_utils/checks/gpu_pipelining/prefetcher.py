"""Check a wrapper that copies the next batch to the device while the current one is computed."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.fakes import DeviceBatch, FakeCuda, HostBatch


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


class EpochRecord(TypedDict, total=False):
    """What happened in an epoch on the simulated device; if not `on_device`, nothing else is recorded."""

    on_device: bool
    used: list[list[int]]
    seen: list[list[object]]
    races: list[str]
    log: list[list[Any]]
    waits: int
    ahead: int
    seconds: float


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw epochs dominated by computing, copying or loading, one of a loop that waits, and short ones."""
    times: list[Times] = [
        {"load": 0.5, "copy": 1.0, "compute": 6.0, "loop_waits": False},
        {"load": 0.5, "copy": 3.0, "compute": 2.0, "loop_waits": False},
        {"load": 4.0, "copy": 1.5, "compute": 5.0, "loop_waits": False},
        {"load": 0.5, "copy": 2.0, "compute": 4.0, "loop_waits": True},
    ]
    lengths = [(t, int(rng.integers(22, 28))) for t in times] + [(times[0], 1), (times[0], 0)]
    scenarios = [_scenario(rng, t, batches) for t, batches in lengths]
    return {"scenarios": scenarios}, {"scenarios": scenarios}


def _scenario(rng: np.random.Generator, times: Times, batches: int) -> Scenario:
    return {
        **times,
        "batches": batches,
        "values": rng.choice(10_000, (batches, 2), replace=False).tolist(),
    }


def probe(inputs: Inputs, prefetch: Callable[..., Iterable[Any]]) -> Evidence:
    """Train through the wrapper on a simulated GPU, and record what happened on it."""
    return [_train(scenario, prefetch) for scenario in inputs["scenarios"]]


def _train(scenario: Scenario, prefetch: Callable[..., Iterable[Any]]) -> EpochRecord:
    gpu = FakeCuda(copy_seconds=scenario["copy"], strict=False)
    counts = {"asked": 0}

    def loader() -> Iterator[list[HostBatch]]:
        for values in scenario["values"]:
            gpu.run_host(scenario["load"])
            counts["asked"] += 1
            yield [HostBatch(gpu, value) for value in values]

    used: list[list[int]] = []
    ahead = 0
    for batch in prefetch(loader(), "cuda", gpu):
        ahead = max(ahead, counts["asked"] - len(used))
        tensors = list(batch)
        if not all(isinstance(tensor, DeviceBatch) for tensor in tensors):
            return {"on_device": False}
        used.append([tensor.value for tensor in tensors])
        gpu.kernel(scenario["compute"], *tensors)
        if scenario["loop_waits"]:  # as a loop does that reads the loss
            gpu.current_stream().synchronize()
    waits = gpu.waits
    gpu.synchronize()
    return {
        "on_device": True,
        "used": used,
        "seen": gpu.values_read(),
        "races": gpu.races,
        "log": [[entry.kind, entry.stream, entry.start, entry.end] for entry in gpu.log],
        "waits": waits,
        "ahead": ahead,
        "seconds": gpu.now,
    }


def judge(truth: Truth, found: Evidence) -> str:
    """Check every epoch: all batches arrive, no race occurs, and it is as fast as overlap allows."""
    for scenario, epoch in zip(truth["scenarios"], found, strict=True):
        if not epoch["on_device"]:
            raise Mistake(
                "not_copied", "Your wrapper yields batches that are still in host memory: use .to(device)."
            )
        _expect_all_batches(scenario, epoch)
    for scenario, epoch in zip(truth["scenarios"], found, strict=True):
        _expect_no_race(scenario, epoch)
    for scenario, epoch in zip(truth["scenarios"], found, strict=True):
        _expect_no_host_waits(scenario, epoch)
        _expect_overlap(scenario, epoch)
    return (
        "Every batch arrives once and in order, no kernel reads memory before its copy is done or after it "
        "was freed, and an epoch takes as long as the longest of loading, copying and computing."
    )


def _expect_all_batches(scenario: Scenario, epoch: EpochRecord) -> None:
    used, values = epoch["used"], scenario["values"]
    if used == values:
        return
    count = f"{len(used)} of {len(values)} batches arrive. "
    if used == values[:-1]:
        raise Mistake(
            "loses_the_last_batch",
            count + "The last one, copied ahead when the loader ended, is missing: yield it too.",
        )
    if used == values[1:]:
        raise Mistake("loses_the_first_batch", count + "The first one is copied but never yielded.")
    raise Mistake(
        "other_batches", count + "Yield each batch of the loader once, in order, with all its tensors."
    )


def _expect_no_race(scenario: Scenario, epoch: EpochRecord) -> None:
    pairs = [[value] for values in scenario["values"] for value in values]
    if "too early" in epoch["races"]:
        raise Mistake(
            "used_too_early",
            "A kernel reads a batch before its copy is done: it computes with stale memory, without any "
            "error. Let the computing stream wait for the copy, by wait_stream or an event, before you yield "
            "the batch.",
        )
    if "reused" in epoch["races"] or epoch["seen"] != pairs:
        raise Mistake(
            "memory_reused",
            "A batch is overwritten while a kernel still reads it. The memory was allocated on the side "
            "stream, and the allocator does not know that the computing stream uses it. Call record_stream "
            "on each tensor, or keep a reference to the batch until an event shows that its kernel is done.",
        )


def _expect_no_host_waits(scenario: Scenario, epoch: EpochRecord) -> None:
    if scenario["loop_waits"] or epoch["waits"] <= scenario["batches"] / 2 + 1:
        return
    raise Mistake(
        "synchronises_every_step",
        f"In {scenario['batches']} steps the host waits {epoch['waits']} times for the device (synchronize, "
        "or a copy without non_blocking) and cannot load anything meanwhile. Let streams wait for each other "
        "instead.",
    )


def _expect_overlap(scenario: Scenario, epoch: EpochRecord) -> None:
    load, copy, compute = stages = scenario["load"], 2 * scenario["copy"], scenario["compute"]
    step = max(load + compute, copy) if scenario["loop_waits"] else max(stages)
    allowed = scenario["batches"] * step + 2 * sum(stages)
    if epoch["seconds"] <= allowed:
        return
    loop = " whose loop waits for each step" if scenario["loop_waits"] else ""
    took = f"An epoch{loop} takes {epoch['seconds']:.0f} s of simulated time; with overlap, {allowed:.0f} s. "
    copies, uses = ({row[1] for row in epoch["log"] if row[0] == what} for what in ("copy", "use"))
    if copies & uses:
        raise Mistake(
            "no_side_stream",
            took + "Copies and kernels are in one stream and cannot overlap: use a side stream for copies.",
        )
    if epoch["ahead"] < 2:
        raise Mistake(
            "nothing_ahead", took + "Start the copy of the next batch before you yield the current one."
        )
    raise Mistake(
        "no_overlap", took + "Something prevents copies from overlapping with kernels; look for a wait."
    )

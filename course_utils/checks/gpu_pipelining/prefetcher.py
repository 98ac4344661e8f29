"""The check of a wrapper that copies the next batch to the device while the present one is computed."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.fakes import DeviceBatch, FakeCuda, HostBatch

Scenario = dict[str, Any]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw epochs in which the compute, the copies or the loading take longest, and two very short ones."""
    long = [
        {"load": 0.5, "copy": 1.0, "compute": 6.0},
        {"load": 0.5, "copy": 3.0, "compute": 2.0},
        {"load": 4.0, "copy": 1.5, "compute": 5.0},
    ]
    scenarios = [{**s, "batches": int(rng.integers(22, 28))} for s in long]
    scenarios += [{**long[0], "batches": 1}, {**long[0], "batches": 0}]
    for scenario in scenarios:
        values = rng.choice(10_000, (scenario["batches"], 2), replace=False)
        scenario["values"] = values.tolist()
    return {"scenarios": scenarios}, {"scenarios": scenarios}


def probe(inputs: Inputs, prefetch: Callable[..., Iterable[Any]]) -> Evidence:
    """Train on a fake GPU through the wrapper and write down what happened on it."""
    return [_train(scenario, prefetch) for scenario in inputs["scenarios"]]


def _train(scenario: Scenario, prefetch: Callable[..., Iterable[Any]]) -> dict:
    gpu = FakeCuda(copy_seconds=scenario["copy"], strict=False)
    counts = {"asked": 0}

    def loader() -> Iterator[list[HostBatch]]:
        for values in scenario["values"]:
            gpu.run_host(scenario["load"])
            counts["asked"] += 1
            yield [HostBatch(gpu, value) for value in values]

    used, ahead = [], 0
    for batch in prefetch(loader(), "cuda", gpu):
        ahead = max(ahead, counts["asked"] - len(used))
        tensors = list(batch)
        if not all(isinstance(tensor, DeviceBatch) for tensor in tensors):
            return {"on_device": False}
        used.append([tensor.value for tensor in tensors])
        gpu.kernel(scenario["compute"], *tensors)
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
    """Judge every epoch: all batches, no race, and as fast as overlap allows."""
    for scenario, epoch in zip(truth["scenarios"], found, strict=True):
        if not epoch["on_device"]:
            raise Mistake(
                "not_copied", "Your wrapper gives batches that are still in host memory: use .to(device)."
            )
        _all_batches(scenario, epoch)
    for scenario, epoch in zip(truth["scenarios"], found, strict=True):
        _no_race(scenario, epoch)
    for scenario, epoch in zip(truth["scenarios"], found, strict=True):
        _host_goes_on(scenario, epoch)
        _overlaps(scenario, epoch)
    return (
        "Every batch arrives once and in order, no kernel reads memory before its copy is done or after it "
        "was given away, and an epoch takes as long as the longest of loading, copying and computing."
    )


def _all_batches(scenario: Scenario, epoch: dict) -> None:
    used, values = epoch["used"], scenario["values"]
    if used == values:
        return
    count = f"{len(used)} of {len(values)} batches arrive. "
    if used == values[:-1]:
        raise Mistake(
            "loses_the_last_batch", count + "The one that was copied ahead when the loader ended is missing."
        )
    if used == values[1:]:
        raise Mistake("loses_the_first_batch", count + "The first one is copied and never given to the loop.")
    raise Mistake(
        "other_batches", count + "Give each batch of the loader once, in order, with all its tensors."
    )


def _no_race(scenario: Scenario, epoch: dict) -> None:
    pairs = [[value] for values in scenario["values"] for value in values]
    if "too early" in epoch["races"]:
        raise Mistake(
            "used_too_early",
            "A kernel reads a batch before its copy is done: it computes with old memory, without any "
            "error. Let the computing stream wait for the copy, by wait_stream or an event, before you give "
            "the batch away.",
        )
    if "reused" in epoch["races"] or epoch["seen"] != pairs:
        raise Mistake(
            "memory_reused",
            "A batch is overwritten while a kernel still reads it. The memory was allocated on the side "
            "stream, which does not know that the computing stream uses it. Call record_stream on each "
            "tensor, or hold the batch until an event says that its kernel is done.",
        )


def _host_goes_on(scenario: Scenario, epoch: dict) -> None:
    if epoch["waits"] <= scenario["batches"] / 2 + 1:
        return
    raise Mistake(
        "synchronises_every_step",
        f"In {scenario['batches']} steps the host waits {epoch['waits']} times for the device (synchronize, "
        "or a copy without non_blocking) and can load nothing meanwhile. Let streams wait for each other "
        "instead.",
    )


def _overlaps(scenario: Scenario, epoch: dict) -> None:
    stages = scenario["load"], 2 * scenario["copy"], scenario["compute"]
    allowed = scenario["batches"] * max(stages) + 2 * sum(stages)
    if epoch["seconds"] <= allowed:
        return
    took = f"An epoch takes {epoch['seconds']:.0f} s of the fake GPU's time, with overlap {allowed:.0f} s. "
    copies, uses = ({row[1] for row in epoch["log"] if row[0] == what} for what in ("copy", "use"))
    if copies & uses:
        raise Mistake(
            "no_side_stream", took + "Copies and kernels stand in one stream, where nothing overlaps."
        )
    if epoch["ahead"] < 2:
        raise Mistake(
            "nothing_ahead", took + "Begin the copy of the next batch before you give this one away."
        )
    raise Mistake("no_overlap", took + "Something keeps the copies from running beside the kernels.")

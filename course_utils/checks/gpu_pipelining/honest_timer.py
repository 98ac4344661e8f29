"""Check a timer of training steps on simulated machines whose times are known."""

from collections.abc import Callable, Iterator
from math import inf, isfinite
from typing import TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.checks.world import BaseWorld, Handle, Part
from course_utils.fakes import FOR_USERS, LAUNCH_SECONDS, MachineEngine, ScriptedMachine

EPOCHS, BATCHES = 4, 60
TOLERANCE = 0.03

ADVICE = {
    "loading_left_out": "Your time starts after the batch has arrived, so the loading is missing. Read the "
    "clock before the loop asks for its first batch, so that waiting for data counts.",
    "no_synchronisation": "Your time ends while the device is still computing: when `step` returns, its work "
    "is only queued. Call device.synchronize() before you read the clock at the end of an epoch.",
    "synchronises_every_step": "Your time is loading plus computing, because you wait for the device in "
    "every step. That prevents the overlap that you want to measure. Synchronise once, at the end of an "
    "epoch.",
    "cold_and_warm_mean": "Your time is a mean over the first epoch and the later ones. The first one fills "
    "caches and warms up the device: leave it out.",
    "warm_up_counted": "Your time includes the first epoch, which fills caches and warms up the device. Run "
    "it, but measure the epochs after it.",
    "per_epoch": "Your time is that of a whole epoch. Divide it by the number of batches.",
    "milliseconds": "Your time seems to be in milliseconds; return seconds.",
    "batches_per_second": "That is batches per second; return seconds per batch.",
}


class MachineTimes(TypedDict):
    """A simulated machine's times in seconds, and how much slower its first epoch and first step are."""

    load: list[float]
    compute: float
    cold: float
    warm_up: float


class Answer(TypedDict):
    """What the student's timer returned (None if it is not a number), and its type."""

    seconds: float | None
    kind: str


class World(BaseWorld):
    """The machines, with their clocks, loaders and devices: their times are known by measuring alone."""

    def __init__(self, truth: Truth) -> None:
        self.machines = [MachineEngine(**times) for times in truth["machines"]]
        served = FOR_USERS | {"clock", "batches", "start_epoch", "load", "step"}
        self.parts = [Part(machine, served) for machine in self.machines]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two machines, one limited by its loader and one by its device."""
    machines = [
        _draw_times(rng.uniform(6, 10, BATCHES), 3.0, rng),
        _draw_times(rng.uniform(1, 3, BATCHES), 8.0, rng),
    ]
    return {"machines": len(machines), "epochs": EPOCHS}, {"machines": machines}


def _draw_times(load_ms: np.ndarray, compute_ms: float, rng: np.random.Generator) -> MachineTimes:
    compute = compute_ms * rng.uniform(0.9, 1.1)
    return {"load": (load_ms / 1e3).tolist(), "compute": compute / 1e3, "cold": 4.0, "warm_up": 20.0}


def probe(inputs: Inputs, world: Handle, seconds_per_batch: Callable[..., float]) -> Evidence:
    """Let the student's timer measure each machine."""
    handles = [world.part(1 + number) for number in range(inputs["machines"])]
    return [_measure(ScriptedMachine(engine=one), inputs["epochs"], seconds_per_batch) for one in handles]


def _measure(machine: ScriptedMachine, epochs: int, seconds_per_batch: Callable[..., float]) -> Answer:
    answer = seconds_per_batch(machine.loader, machine.step, machine.clock, machine.device, epochs)
    number = isinstance(answer, int | float | np.number) and not isinstance(answer, bool)
    return {"seconds": float(answer) if number else None, "kind": type(answer).__name__}


def judge(truth: Truth, found: Evidence, world: World) -> str:
    """Compare with the true times, and with the times that each known mistake would give."""
    machines = truth["machines"]
    for answer, machine in zip(found, world.machines, strict=True):
        if answer["seconds"] is None:
            raise Mistake(
                "not_a_number",
                f"Return the seconds per batch as a number; you returned a value of type {answer['kind']}.",
            )
        if machine.steps == 0:
            raise Mistake(
                "no_training", "Your function never called step(batch), so it measured no training."
            )
    measured = [answer["seconds"] for answer in found]
    true = [_warm_seconds(times) for times in machines]
    if _relative_error(measured, true) > TOLERANCE:
        raise _mistake(machines, measured, true)
    return (
        "Your timer counts the loading, waits for the device once at the end, and leaves the first epoch "
        "out: it is right on a machine limited by its loader and on one limited by its device."
    )


def _mistake(machines: list[MachineTimes], measured: list[float], true: list[float]) -> Mistake:
    known = [(_relative_error(measured, wrong), name) for name, wrong in _known_mistakes(machines, true)]
    distance, name = min(known)
    if distance <= 2 * TOLERANCE:
        return Mistake(name, ADVICE[name])
    pairs = ", ".join(
        f"{1e3 * a:.3g} ms instead of {1e3 * b:.3g} ms" for a, b in zip(measured, true, strict=True)
    )
    return Mistake(
        "wrong_time",
        f"Your timer returns {pairs} per batch. Measure whole epochs after the first one: read the clock "
        "before the first batch is requested, call device.synchronize() before you read the clock at the "
        "end, and divide the time by the number of batches.",
    )


def _relative_error(measured: list[float], other: list[float]) -> float:
    # A NaN would compare as false and pass for the best match.
    return max(abs(a / b - 1) if isfinite(a) else inf for a, b in zip(measured, other, strict=True))


def _known_mistakes(machines: list[MachineTimes], true: list[float]) -> Iterator[tuple[str, list[float]]]:
    """Yield the seconds per batch of each machine that each known mistake would give."""
    load = [float(np.mean(times["load"])) for times in machines]
    compute = [times["compute"] for times in machines]
    cold = [_epoch_seconds(times, first=True) for times in machines]
    extra = [(w["warm_up"] - 1) * w["compute"] / BATCHES for w in machines]
    for share in (0, 1 / EPOCHS, 1):
        slower = [1 + share * (times["cold"] - 1) for times in machines]
        yield "no_synchronisation", [a * b for a, b in zip(load, slower, strict=True)]
        both = zip(load, slower, compute, extra, strict=True)
        yield "synchronises_every_step", [a * b + c + share * d for a, b, c, d in both]
        yield "loading_left_out", [c + share * d for c, d in zip(compute, extra, strict=True)]
    yield "loading_left_out", [LAUNCH_SECONDS] * len(machines)
    yield "cold_and_warm_mean", [(a + (EPOCHS - 1) * b) / EPOCHS for a, b in zip(cold, true, strict=True)]
    yield "cold_and_warm_mean", [(a + b) / 2 for a, b in zip(cold, true, strict=True)]
    yield "warm_up_counted", cold
    yield (
        "warm_up_counted",
        [_mean_without_first_batch(w, c, t) for w, c, t in zip(machines, cold, true, strict=True)],
    )
    yield "per_epoch", [BATCHES * t for t in true]
    yield "milliseconds", [1e3 * t for t in true]
    yield "batches_per_second", [1 / t for t in true]


def _mean_without_first_batch(times: MachineTimes, cold: float, warm: float) -> float:
    first = times["cold"] * times["load"][0] + times["warm_up"] * times["compute"]
    return (BATCHES * (cold + (EPOCHS - 1) * warm) - first) / (EPOCHS * BATCHES - 1)


def _warm_seconds(times: MachineTimes) -> float:
    return _epoch_seconds(times, first=False)


def _epoch_seconds(times: MachineTimes, first: bool) -> float:
    """Return the seconds per batch of one epoch: the host loads the next batch while the device works."""
    host = device = 0.0  # when each is free
    for number, load in enumerate(times["load"]):
        host += load * (times["cold"] if first else 1) + LAUNCH_SECONDS
        slow = times["warm_up"] if first and number == 0 else 1
        device = max(device, host) + times["compute"] * slow
    return device / len(times["load"])

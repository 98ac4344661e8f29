"""The check of a stopwatch for training steps, on machines whose times stand in a script."""

from collections.abc import Callable, Iterator
from math import inf, isfinite

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Mistake, Truth
from course_utils.fakes import LAUNCH_SECONDS, ScriptedMachine

EPOCHS, BATCHES = 4, 60
ALLOWED = 0.03

ADVICE = {
    "loading_left_out": "Your time starts after the batch has arrived: the loading is missing. Read the "
    "clock before the loop asks for its first batch, so that waiting for data counts.",
    "no_synchronisation": "Your time ends while the device still computes: a step is only queued when "
    "`step` returns. Call device.synchronize() before you read the clock at the end of an epoch.",
    "synchronises_every_step": "Your time is loading plus computing, because you wait for the device in "
    "every step. That stops the overlap which you want to measure. Synchronise once, at the end of an epoch.",
    "cold_and_warm_mean": "Your time is a mean over the first epoch and the later ones. The first one fills "
    "the caches and warms up: leave it out.",
    "warm_up_counted": "Your time counts the first epoch, which fills the caches and warms up. Run it, but "
    "measure the epochs after it.",
    "per_epoch": "Your time is that of a whole epoch. Divide by the number of batches.",
    "milliseconds": "Your time looks like milliseconds; return seconds.",
    "batches_per_second": "That is batches per second; return seconds per batch.",
}


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two machines, one that waits for its loader and one that waits for its device."""
    worlds = [_world(rng.uniform(6, 10, BATCHES), 3.0, rng), _world(rng.uniform(1, 3, BATCHES), 8.0, rng)]
    return {"worlds": worlds, "epochs": EPOCHS}, {"worlds": worlds}


def _world(load_ms: np.ndarray, compute_ms: float, rng: np.random.Generator) -> dict:
    compute = compute_ms * rng.uniform(0.9, 1.1)
    return {"load": (load_ms / 1e3).tolist(), "compute": compute / 1e3, "cold": 4.0, "warm_up": 20.0}


def probe(inputs: Inputs, seconds_per_batch: Callable[..., float]) -> Evidence:
    """Let the stopwatch measure each machine."""
    return [_measure(world, inputs["epochs"], seconds_per_batch) for world in inputs["worlds"]]


def _measure(world: dict, epochs: int, seconds_per_batch: Callable[..., float]) -> dict:
    machine = ScriptedMachine(**world)
    answer = seconds_per_batch(machine.loader, machine.step, machine.clock, machine.device, epochs)
    number = isinstance(answer, int | float | np.number) and not isinstance(answer, bool)
    return {
        "seconds": float(answer) if number else None,
        "kind": type(answer).__name__,
        "steps": machine.steps,
    }


def judge(truth: Truth, found: Evidence) -> str:
    """Compare with the times in the script, and with the times that each mistake would give."""
    worlds = truth["worlds"]
    for answer in found:
        if answer["seconds"] is None:
            raise Mistake(
                "not_a_number", f"Return the seconds per batch as a number, not as {answer['kind']}."
            )
        if answer["steps"] == 0:
            raise Mistake(
                "no_training", "Your function never called step(batch), so it measured no training."
            )
    told = [answer["seconds"] for answer in found]
    true = [_warm(world) for world in worlds]
    if _off(told, true) > ALLOWED:
        raise _mistake(worlds, told, true)
    return (
        "Your stopwatch counts the loading, waits for the device once at the end, and leaves the first "
        "epoch out: it tells the truth on a machine that waits for its loader and on one that waits for its "
        "device."
    )


def _mistake(worlds: list[dict], told: list[float], true: list[float]) -> Mistake:
    known = [(_off(told, wrong), name) for name, wrong in _mistaken(worlds, true)]
    distance, name = min(known)
    if distance <= 2 * ALLOWED:
        return Mistake(name, ADVICE[name])
    pairs = ", ".join(
        f"{1e3 * a:.3g} ms where the script says {1e3 * b:.3g} ms" for a, b in zip(told, true, strict=True)
    )
    return Mistake(
        "wrong_time",
        f"Your stopwatch says {pairs} per batch. Measure whole epochs after the first: clock before the "
        "first batch is asked for, device.synchronize() before the clock at the end, time over batches.",
    )


def _off(told: list[float], other: list[float]) -> float:
    # Not a number is as far off as can be: it compares with nothing.
    return max(abs(a / b - 1) if isfinite(a) else inf for a, b in zip(told, other, strict=True))


def _mistaken(worlds: list[dict], true: list[float]) -> Iterator[tuple[str, list[float]]]:
    """What each known mistake would tell, in seconds per batch of each machine."""
    load = [float(np.mean(world["load"])) for world in worlds]
    compute = [world["compute"] for world in worlds]
    cold = [_epoch(world, first=True) for world in worlds]
    extra = [(w["warm_up"] - 1) * w["compute"] / BATCHES for w in worlds]
    for share in (0, 1 / EPOCHS, 1):
        slower = [1 + share * (world["cold"] - 1) for world in worlds]
        yield "no_synchronisation", [a * b for a, b in zip(load, slower, strict=True)]
        both = zip(load, slower, compute, extra, strict=True)
        yield "synchronises_every_step", [a * b + c + share * d for a, b, c, d in both]
        yield "loading_left_out", [c + share * d for c, d in zip(compute, extra, strict=True)]
    yield "loading_left_out", [LAUNCH_SECONDS] * len(worlds)
    yield "cold_and_warm_mean", [(a + (EPOCHS - 1) * b) / EPOCHS for a, b in zip(cold, true, strict=True)]
    yield "cold_and_warm_mean", [(a + b) / 2 for a, b in zip(cold, true, strict=True)]
    yield "warm_up_counted", cold
    yield (
        "warm_up_counted",
        [_without_first_batch(w, c, t) for w, c, t in zip(worlds, cold, true, strict=True)],
    )
    yield "per_epoch", [BATCHES * t for t in true]
    yield "milliseconds", [1e3 * t for t in true]
    yield "batches_per_second", [1 / t for t in true]


def _without_first_batch(world: dict, cold: float, warm: float) -> float:
    first = world["cold"] * world["load"][0] + world["warm_up"] * world["compute"]
    return (BATCHES * (cold + (EPOCHS - 1) * warm) - first) / (EPOCHS * BATCHES - 1)


def _warm(world: dict) -> float:
    return _epoch(world, first=False)


def _epoch(world: dict, first: bool) -> float:
    """Seconds per batch that the script gives an epoch: the device works while the host goes on."""
    host = device = 0.0
    for number, load in enumerate(world["load"]):
        host += load * (world["cold"] if first else 1) + LAUNCH_SECONDS
        slow = world["warm_up"] if first and number == 0 else 1
        device = max(device, host) + world["compute"] * slow
    return device / len(world["load"])

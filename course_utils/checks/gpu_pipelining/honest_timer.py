"""Check a timer of training steps on simulated machines whose times are known."""

from collections.abc import Callable
from math import inf, isfinite
from numbers import Real
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from course_utils.checks.core import Inputs, Mistake, Truth, type_name
from course_utils.checks.world import BaseWorld, Handle, Part
from course_utils.fakes import FOR_USERS, LAUNCH_SECONDS, MachineEngine, ScriptedMachine

TOLERANCE = 0.001  # of a right time, which the rule below gives exactly
NEAR = 0.01  # to a known mistake, which is made in slightly different ways
MAX_WAITS = 2  # an epoch

ADVICE = {
    "loading_left_out": "Your time starts after the batch has arrived, so the loading is missing. Read the "
    "clock before the loop asks for its first batch, so that waiting for data counts.",
    "no_synchronisation": "Your time ends while the device is still computing: when `step` returns, its work "
    "is only queued. Call device.synchronize() before you read the clock at the end of an epoch.",
    "synchronises_every_step": "Your time is loading plus computing, because you wait for the device in "
    "every step. That prevents the overlap that you want to measure. Synchronise once, at the end of an "
    "epoch.",
    "first_epoch_left_running": "You start the clock while the device still works on an earlier epoch, so a "
    "part of that epoch counts. Call device.synchronize() before you read the clock at the start, too.",
    "last_index_for_length": "You divide by one batch too few: the last index of a loop that counts from 0 "
    "is not the number of batches.",
    "divides_by_all_epochs": "You leave the first epoch out of the time, but divide by the batches of all "
    "epochs.",
    "cold_and_warm_mean": "Your time is a mean over the first epoch and the later ones. The first one fills "
    "caches and warms up the device: leave it out.",
    "warm_up_counted": "Your time includes the first epoch, which fills caches and warms up the device. Run "
    "it, but measure the epochs after it.",
    "per_epoch": "Your time is that of a whole epoch. Divide it by the number of batches.",
    "milliseconds": "Your time seems to be in milliseconds; return seconds.",
    "batches_per_second": "That is batches per second; return seconds per batch.",
}


# When a timer waits for the device; "once" after the first epoch and at the end, "first step" after that step
# and each epoch.
Waits = Literal["never", "once", "first step", "every epoch", "every step"]


class MachineTimes(TypedDict):
    """A simulated machine's times in seconds, and how much slower its first epoch and first step are."""

    load: list[float]
    compute: float
    cold: float
    warm_up: float


class Case(TypedDict):
    """A machine, and how many epochs the timer is asked to train on it."""

    times: MachineTimes
    epochs: int


class Answer(TypedDict):
    """What the student's timer returned (None if it is not a number), and its type."""

    seconds: float | None
    kind: str


class World(BaseWorld):
    """The machines, with their clocks, loaders and devices: their times are known by measuring alone."""

    def __init__(self, truth: Truth) -> None:
        self.machines = [MachineEngine(**case["times"]) for case in truth["cases"]]
        served = FOR_USERS | {"clock", "batches", "start_epoch", "load", "step"}
        self.parts = [Part(machine, served) for machine in self.machines]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw machines limited by their loader or device, with epochs of different numbers and lengths."""
    cases: list[Case] = [
        {"times": _draw_times(rng.uniform(6, 10, 60), 3.0, rng), "epochs": 4},
        {"times": _draw_times(rng.uniform(1, 3, 45), 8.0, rng), "epochs": 3},
        {"times": _draw_times(rng.uniform(5, 8, 50), 2.0, rng), "epochs": 2},
    ]
    return {"epochs": [case["epochs"] for case in cases]}, {"cases": cases}


def _draw_times(load_ms: np.ndarray, compute_ms: float, rng: np.random.Generator) -> MachineTimes:
    compute = compute_ms * rng.uniform(0.9, 1.1)
    return {"load": (load_ms / 1e3).tolist(), "compute": compute / 1e3, "cold": 4.0, "warm_up": 20.0}


def probe(inputs: Inputs, world: Handle, seconds_per_batch: Callable[..., float]) -> list[Answer]:
    """Let the student's timer measure each machine."""
    machines = [ScriptedMachine(engine=world.part(1 + n)) for n in range(len(inputs["epochs"]))]
    return [
        _measure(machine, epochs, seconds_per_batch)
        for machine, epochs in zip(machines, inputs["epochs"], strict=True)
    ]


def _measure(machine: ScriptedMachine, epochs: int, seconds_per_batch: Callable[..., float]) -> Answer:
    answer = seconds_per_batch(machine.loader, machine.step, machine.clock, machine.device, epochs)
    number = isinstance(answer, Real) and not isinstance(answer, bool)
    return {"seconds": float(answer) if number else None, "kind": type_name(answer)}


def judge(truth: Truth, found: list[Answer], world: World) -> str:
    """Compare with the true times, and with the times that each known mistake would give."""
    cases: list[Case] = truth["cases"]
    measured: list[float] = []
    for answer, case, machine in zip(found, cases, world.machines, strict=True):
        if answer["seconds"] is None:
            raise Mistake(
                "not_a_number",
                f"Return the seconds per batch as a number; you returned a value of type {answer['kind']}.",
            )
        measured.append(answer["seconds"])
        _expect_training(case, machine)
    if not all(_is_right(case, seconds) for case, seconds in zip(cases, measured, strict=True)):
        raise _mistake(cases, measured)
    for machine in world.machines:
        _expect_few_waits(machine)
    return (
        "Your timer counts the loading, waits for the device once at the end, and leaves the first epoch "
        "out: it is right on machines limited by their loader and on one limited by its device."
    )


def _expect_training(case: Case, machine: MachineEngine) -> None:
    steps = case["epochs"] * len(case["times"]["load"])
    if machine.steps == 0:
        raise Mistake(
            "no_training",
            "Your function never called step(batch), so it measured no training. Call it for every batch "
            "of the loader.",
        )
    if machine.epochs != case["epochs"]:
        raise Mistake(
            "other_number_of_epochs",
            f"Asked for epochs={case['epochs']}, your function goes through the loader {machine.epochs} "
            "times.",
        )
    if machine.steps != steps:
        raise Mistake(
            "other_number_of_steps",
            f"In {case['epochs']} epochs of {len(case['times']['load'])} batches your function calls step "
            f"{machine.steps} times, not {steps}: call it once for every batch of every epoch.",
        )


def _expect_few_waits(machine: MachineEngine) -> None:
    """Refuse a time that is put together from waits in every step: the training was a slower one."""
    if machine.waits > MAX_WAITS * machine.epochs:
        raise Mistake(
            "waits_within_epochs",
            f"Your times are right, but in {machine.epochs} epochs your function waits for the device "
            f"{machine.waits} times. Then loader and device take turns, and the training is slower than your "
            "time says. Wait for the device only at the end of an epoch.",
        )


class Clock(NamedTuple):
    """What the clock shows at the end of each epoch: before and after waiting for the device."""

    host: list[float]
    done: list[float]


def _read(case: Case, waits: Waits) -> Clock:
    """Train on a machine and read its clock."""
    times, clock = case["times"], Clock([], [])
    host = device = 0.0  # when each is free
    for epoch in range(case["epochs"]):
        for number, load in enumerate(times["load"]):
            host += load * (times["cold"] if epoch == 0 else 1) + LAUNCH_SECONDS
            slow = times["warm_up"] if epoch == number == 0 else 1
            device = max(device, host) + times["compute"] * slow
            if waits == "every step" or (waits == "first step" and epoch == number == 0):
                host = max(host, device)
        clock.host.append(host)
        clock.done.append(max(host, device))
        if waits in ("every epoch", "first step") or (waits == "once" and epoch == 0):
            host = clock.done[-1]
    return clock


def _is_right(case: Case, seconds: float) -> bool:
    """Return whether a time lies between waiting for the device once, and at the end of each epoch."""
    low, high = sorted((_warm(case, "once"), _warm(case, "every epoch")))
    return isfinite(seconds) and low * (1 - TOLERANCE) <= seconds <= high * (1 + TOLERANCE)


def _warm(case: Case, waits: Waits) -> float:
    """Return the seconds per batch of all epochs after the first."""
    clock = _read(case, waits)
    return (clock.done[-1] - clock.done[0]) / (case["epochs"] - 1) / _batches(case)


def _batches(case: Case) -> int:
    return len(case["times"]["load"])


def _mistake(cases: list[Case], measured: list[float]) -> Mistake:
    distances = {
        name: max(_distance(a, b) for a, b in zip(measured, map(rule, cases), strict=True))
        for name, rule in KNOWN_MISTAKES.items()
    }
    nearest = min(distances, key=lambda name: distances[name])
    if distances[nearest] <= NEAR:
        name = nearest.partition(":")[0]
        return Mistake(name, ADVICE[name])
    right = [_warm(case, "every epoch") for case in cases]
    pairs = ", ".join(
        f"{1e3 * a:.3g} ms instead of {1e3 * b:.3g} ms" for a, b in zip(measured, right, strict=True)
    )
    return Mistake(
        "wrong_time",
        f"Your timer returns {pairs} per batch. Measure whole epochs after the first one: read the clock "
        "before the first batch is requested, call device.synchronize() before you read the clock at the "
        "end, and divide the time by the number of batches.",
    )


def _distance(measured: float, other: float) -> float:
    # A NaN would compare as false and pass for the best match.
    return abs(measured / other - 1) if isfinite(measured) else inf


def _cold(case: Case) -> float:
    return _read(case, "every epoch").done[0] / _batches(case)


def _mean_compute(case: Case, epochs: int) -> float:
    """Return the mean device time of a step over all epochs, or over those after the first."""
    times, steps = case["times"], epochs * _batches(case)
    first = (times["warm_up"] - 1) * times["compute"] if epochs == case["epochs"] else 0.0
    return times["compute"] + first / steps


def _without_first_batch(case: Case) -> float:
    times, steps = case["times"], case["epochs"] * _batches(case)
    first = times["cold"] * times["load"][0] + LAUNCH_SECONDS + times["warm_up"] * times["compute"]
    return (_read(case, "first step").done[-1] - first) / (steps - 1)


def _all_epochs(case: Case, waits: Waits) -> float:
    return _read(case, waits).done[-1] / case["epochs"] / _batches(case)


def _host_only(case: Case, first: int) -> float:
    host = [0.0, *_read(case, "never").host]
    return (host[-1] - host[first]) / (case["epochs"] - first) / _batches(case)


def _left_running(case: Case, first: int) -> float:
    """Return the seconds from an epoch's first request, while the device still computes, to the end."""
    clock = _read(case, "never")
    return clock.done[-1] - clock.host[first - 1]


# What each known mistake gives; what follows a colon tells variants of one mistake apart.
KNOWN_MISTAKES: dict[str, Callable[[Case], float]] = {
    "loading_left_out": lambda case: _mean_compute(case, case["epochs"] - 1),
    "loading_left_out:all epochs": lambda case: _mean_compute(case, case["epochs"]),
    "loading_left_out:launch": lambda case: LAUNCH_SECONDS,
    "no_synchronisation": lambda case: _host_only(case, 1),
    "no_synchronisation:all epochs": lambda case: _host_only(case, 0),
    "first_epoch_left_running": lambda case: _left_running(case, 1) / (case["epochs"] - 1) / _batches(case),
    "first_epoch_left_running:last epoch": lambda case: (
        _left_running(case, case["epochs"] - 1) / _batches(case)
    ),
    "divides_by_all_epochs:left running": lambda case: (
        _left_running(case, 1) / case["epochs"] / _batches(case)
    ),
    "synchronises_every_step": lambda case: _warm(case, "every step"),
    "synchronises_every_step:all epochs": lambda case: _all_epochs(case, "every step"),
    "cold_and_warm_mean": lambda case: _all_epochs(case, "every epoch"),
    "cold_and_warm_mean:once": lambda case: _all_epochs(case, "never"),
    "cold_and_warm_mean:two": lambda case: (_cold(case) + _warm(case, "every epoch")) / 2,
    "warm_up_counted": _cold,
    "warm_up_counted:first batch left out": _without_first_batch,
    "last_index_for_length": lambda case: _warm(case, "every epoch") * _batches(case) / (_batches(case) - 1),
    "divides_by_all_epochs": lambda case: _warm(case, "every epoch") * (case["epochs"] - 1) / case["epochs"],
    "per_epoch": lambda case: _warm(case, "every epoch") * _batches(case),
    "milliseconds": lambda case: _warm(case, "every epoch") * 1e3,
    "batches_per_second": lambda case: 1 / _warm(case, "every epoch"),
}

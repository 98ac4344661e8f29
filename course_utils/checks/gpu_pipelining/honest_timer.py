"""Check a timer of training steps on simulated machines whose times are known."""

from collections.abc import Callable, Sequence
from math import inf, isfinite
from numbers import Real
from typing import TypedDict

import numpy as np

from course_utils.checks.core import Inputs, Mistake, Truth, type_name
from course_utils.checks.gpu_pipelining._timer_rules import ADVICE, KNOWN_MISTAKES, Case, MachineTimes, warm
from course_utils.checks.world.handle import Handle
from course_utils.checks.world.state import BaseWorld, Part
from course_utils.fakes import FOR_USERS, MachineEngine, ScriptedMachine

TOLERANCE = 0.001  # of a right time, which the rule below gives exactly
NEAR = 0.01  # to a known mistake, which is made in slightly different ways
MAX_WAITS = 2  # an epoch


class Answer(TypedDict):
    """What the student's timer returned (None if it is not a number), and its type."""

    seconds: float | None
    kind: str


class Machine(MachineEngine):
    """A machine that counts how often it is asked for its time, and how far loading is ahead of the steps."""

    def __init__(self, times: MachineTimes) -> None:
        super().__init__(**times)
        self.readings = self.ahead = self._loaded = 0

    def clock(self) -> float:
        """Return the time on the host's clock, in seconds."""
        self.readings += 1
        return super().clock()

    def elapsed_time(self, start: int, end: int) -> float:
        """Return the milliseconds between two events."""
        self.readings += 1
        return super().elapsed_time(start, end)

    def load(self, epoch: int) -> int | None:
        """Load the next batch of an epoch."""
        batch = super().load(epoch)
        self._loaded += batch is not None
        self.ahead = max(self.ahead, self._loaded - self.steps)
        return batch


class World(BaseWorld):
    """The machines, with their clocks, loaders and devices: their times are known by measuring alone."""

    def __init__(self, truth: Truth) -> None:
        self.machines = [Machine(case["times"]) for case in truth["cases"]]
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


def judge(truth: Truth, evidence: list[Answer], world: World) -> str:
    """Compare with the true times, and with the times that each known mistake would give."""
    cases: list[Case] = truth["cases"]
    measured: list[float] = []
    for answer, case, machine in zip(evidence, cases, world.machines, strict=True):
        if answer["seconds"] is None:
            raise Mistake(
                "not_a_number",
                f"Return the seconds per batch as a number; you returned a value of type {answer['kind']}.",
            )
        measured.append(answer["seconds"])
        _expect_training(case, machine)
    if not all(_is_right(case, seconds) for case, seconds in zip(cases, measured, strict=True)):
        raise _mistake(cases, measured, world.machines)
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
    """Refuse a time assembled from per-step waits: it measures a slower training."""
    if machine.waits > MAX_WAITS * machine.epochs:
        raise Mistake(
            "waits_within_epochs",
            f"Your times are right, but in {machine.epochs} epochs your function waits for the device "
            f"{machine.waits} times. Then loader and device take turns, and the training is slower than your "
            "time says. Wait for the device only at the end of an epoch.",
        )


def _is_right(case: Case, seconds: float) -> bool:
    """Return whether a time lies between waiting for the device once, and at the end of each epoch."""
    low, high = sorted((warm(case, "once"), warm(case, "every epoch")))
    return isfinite(seconds) and low * (1 - TOLERANCE) <= seconds <= high * (1 + TOLERANCE)


def _mistake(cases: list[Case], measured: list[float], machines: Sequence[Machine]) -> Mistake:
    if not any(machine.readings for machine in machines):
        return Mistake(
            "own_clock",
            "Your function never reads `clock`. The machine's time is simulated, and no clock of your own "
            "shows it: use `clock`.",
        )
    if all(m.ahead >= m.batches() for m in machines):
        return Mistake(
            "loading_left_out",
            "Your function loads all batches of an epoch before the first step, as list(loader) does. Then "
            "nothing overlaps, and what is loaded before the clock is read does not count. Read the clock, "
            "then go through the loader itself: for batch in loader.",
        )
    distances = {
        name: max(_distance(a, b) for a, b in zip(measured, map(rule, cases), strict=True))
        for name, rule in KNOWN_MISTAKES.items()
    }
    nearest = min(distances, key=lambda name: distances[name])
    if distances[nearest] <= NEAR:
        name = nearest.partition(":")[0]
        return Mistake(name, ADVICE[name])
    right = [warm(case, "every epoch") for case in cases]
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

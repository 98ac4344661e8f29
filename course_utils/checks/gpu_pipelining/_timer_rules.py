"""The times of a simulated training, right ones and those that each known mistake gives."""

from collections.abc import Callable
from typing import Literal, NamedTuple, TypedDict

from course_utils.fakes import LAUNCH_SECONDS

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
    "event_after_the_epoch": "An event is stamped when the *device* reaches it: yours, recorded while it "
    "works on an earlier epoch, is stamped after that work, and the loading meanwhile does not count. "
    "Synchronise before you record the first.",
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


def warm(case: Case, waits: Waits) -> float:
    """Return the seconds per batch of all epochs after the first."""
    clock = _read(case, waits)
    return (clock.done[-1] - clock.done[0]) / (case["epochs"] - 1) / _batches(case)


def _batches(case: Case) -> int:
    return len(case["times"]["load"])


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
    "event_after_the_epoch": lambda case: warm(case, "never"),
    "divides_by_all_epochs:left running": lambda case: (
        _left_running(case, 1) / case["epochs"] / _batches(case)
    ),
    "synchronises_every_step": lambda case: warm(case, "every step"),
    "synchronises_every_step:all epochs": lambda case: _all_epochs(case, "every step"),
    "cold_and_warm_mean": lambda case: _all_epochs(case, "every epoch"),
    "cold_and_warm_mean:once": lambda case: _all_epochs(case, "never"),
    "cold_and_warm_mean:two": lambda case: (_cold(case) + warm(case, "every epoch")) / 2,
    "warm_up_counted": _cold,
    "warm_up_counted:first batch left out": _without_first_batch,
    "last_index_for_length": lambda case: warm(case, "every epoch") * _batches(case) / (_batches(case) - 1),
    "divides_by_all_epochs": lambda case: warm(case, "every epoch") * (case["epochs"] - 1) / case["epochs"],
    "per_epoch": lambda case: warm(case, "every epoch") * _batches(case),
    "milliseconds": lambda case: warm(case, "every epoch") * 1e3,
    "batches_per_second": lambda case: 1 / warm(case, "every epoch"),
}

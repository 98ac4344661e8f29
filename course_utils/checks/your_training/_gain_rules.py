"""What a scripted machine takes for a batch, measured on it, and what known mistakes predict.

Withheld from submissions: it answers `predict_gain`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from course_utils.pipeline import Process, Simulation, Store

BATCHES, FROM = 240, 80  # simulated, and the first one that counts
Rule = Callable[["Training"], float]
Change = dict[str, Any]


@dataclass(frozen=True)
class Training:
    """A training at one point of its mending; milliseconds of a batch.

    Attributes:
        read: Waiting for the file system, which needs no core.
        decode: On a core.
        floats: Making floats of bytes, on a core.
        transfer: Copying to the device.
        compute: The step on the device.
        workers: Processes that load; 0 loads in the loop.
        cores: For the workers.
        pinned: Whether the next batch is copied while this one is computed.
    """

    read: float
    decode: float
    floats: float
    transfer: float
    compute: float
    workers: int
    cores: int
    pinned: bool = False

    @property
    def load(self) -> float:
        return self.read + self.decode + self.floats

    @property
    def on_core(self) -> float:
        return self.decode + self.floats


def measured(training: Training) -> float:
    """Run the machine; return its milliseconds a batch when the pipeline is full."""
    if not training.workers:
        return training.load + training.transfer + training.compute
    simulation, ends = Simulation(), []
    cores, copied = Store(simulation), Store(simulation)
    requests = [Store(simulation) for _ in range(training.workers)]
    ready = [Store(simulation) for _ in range(training.workers)]
    for _ in range(training.cores):
        cores.put()
    for queue in (*requests, *requests):  # two batches in flight for each worker
        queue.put()

    def worker(number: int) -> Process:
        while True:
            yield requests[number]
            yield training.read
            yield cores
            yield training.on_core
            cores.put()
            ready[number].put()

    def copy(batch: int) -> Process:
        yield ready[batch % training.workers]
        requests[batch % training.workers].put()
        yield training.transfer

    def copy_engine() -> Process:
        for batch in range(BATCHES):
            yield from copy(batch)
            copied.put()

    def loop() -> Process:
        for batch in range(BATCHES):
            if training.pinned:
                yield copied
            else:
                yield from copy(batch)
            yield training.compute
            ends.append(simulation.now)

    simulation.start(*(worker(number) for number in range(training.workers)), loop())
    if training.pinned:
        simulation.start(copy_engine())
    simulation.run()
    return (ends[-1] - ends[FROM - 1]) / (BATCHES - FROM)


def trainings(machine: dict[str, Any], changes: Iterable[Change]) -> Iterator[Training]:
    """Yield the training before all changes, and after each: a change is new values of some fields."""
    training = Training(**machine)
    yield training
    for change in changes:
        training = replace(training, **change)
        yield training


def gains(machine: dict[str, Any], changes: list[Change], rule: Rule = measured) -> list[float]:
    """Return how many times as fast each change makes the training as it was before that change."""
    times = [rule(training) for training in trainings(machine, changes)]
    return [before / after for before, after in pairwise(times)]


def on_device(training: Training) -> float:
    """Return the milliseconds of copying and computing a batch."""
    both = training.transfer, training.compute
    return max(both) if training.pinned else sum(both)


def _rule(loading: Rule, device: Rule = on_device) -> Callable[[dict[str, Any], list[Change]], list[float]]:
    """Return gains by a rule for loading with workers, and one for the device."""

    def time(training: Training) -> float:
        if not training.workers:
            return training.load + training.transfer + training.compute
        return max(loading(training), device(training))

    return lambda machine, changes: gains(machine, changes, time)


def loading(training: Training) -> float:
    """Return the milliseconds in which workers load a batch: they wait together, and share the cores."""
    return max(training.load / training.workers, training.on_core / min(training.workers, training.cores))


def _added(training: Training) -> float:
    return (loading(training) if training.workers else training.load) + training.transfer + training.compute


def exact(training: Training) -> float:
    """Return the milliseconds of a batch by the rule, which the machine reaches once its pipeline is full."""
    if not training.workers:
        return training.load + training.transfer + training.compute
    return max(loading(training), on_device(training))


def _exact_gains(machine: dict[str, Any], changes: list[Change]) -> list[float]:
    return gains(machine, changes, exact)


def _alone(machine: dict[str, Any], changes: list[Change]) -> list[float]:
    first = Training(**machine)
    return [exact(first) / exact(replace(first, **change)) for change in changes]


def _since_the_start(machine: dict[str, Any], changes: list[Change]) -> list[float]:
    first, *later = map(exact, trainings(machine, changes))
    return [first / time for time in later]


def _times(machine: dict[str, Any], changes: list[Change]) -> list[float]:
    return list(map(exact, trainings(machine, changes)))[1:]


KNOWN_MISTAKES: dict[str, tuple[Callable[[dict[str, Any], list[Change]], list[float]], str]] = {
    "gain_of_another_training": (
        _alone,
        "You compute the gain of each change on the training as it was at the start. A change is made on "
        "what the changes before it have left: gains of single changes cannot be put in a row.",
    ),
    "since_the_start": (
        _since_the_start,
        "You compare with the training before all changes. Each number says what one change gains on top of "
        "those before it.",
    ),
    "sum_for_maximum": (
        lambda machine, changes: gains(machine, changes, _added),
        "You add loading to transfer and computing although there are workers. Loading and the loop work at "
        "the same time then: the slower of the two sets the pace.",
    ),
    "batches_in_flight_ignored": (
        _rule(lambda training: training.load),
        "You let one batch be loaded at a time. With workers as many batches are under way as there are "
        "workers.",
    ),
    "cores_ignored": (
        _rule(lambda training: training.load / training.workers),
        "You divide all of the loading by the number of workers. Decoding and making floats need a core, "
        "and there are fewer cores than workers.",
    ),
    "waiting_needs_a_core": (
        _rule(lambda training: training.load / min(training.workers, training.cores)),
        "You divide the reading by the number of cores. Who waits for the file system needs no core: all "
        "workers wait at once.",
    ),
    "all_at_once": (
        _rule(
            lambda training: (
                training.read / training.workers + training.on_core / min(training.workers, training.cores)
            )
        ),
        "You add the reading of all workers to the decoding on the cores. While some workers wait, others "
        "decode: whichever takes longer sets the pace.",
    ),
    "transfer_vanishes": (
        _rule(loading, lambda t: t.compute if t.pinned else t.transfer + t.compute),
        "You drop the transfer once memory is pinned. It still takes its time, beside the computing: the "
        "longer of the two counts.",
    ),
    "transfer_in_turn": (
        _rule(loading, lambda t: t.transfer + t.compute),
        "You add transfer and computing although memory is pinned. Then the next batch is copied while this "
        "one is computed.",
    ),
    "transfer_forgotten": (
        _rule(loading, lambda t: t.compute),
        "You leave the transfer out. Until memory is pinned, the loop copies a batch and then computes it.",
    ),
    "inverse": (
        lambda machine, changes: [1 / gain for gain in _exact_gains(machine, changes)],
        "Those are times after a change divided by times before. Turn them over: how many times as *fast*?",
    ),
    "times": (
        _times,
        "Those are milliseconds a batch after each change. Divide the time before a change by the time "
        "after it.",
    ),
    "per_cent": (
        lambda machine, changes: [100 * (gain - 1) for gain in _exact_gains(machine, changes)],
        "Those are per cent more. Return how many times as fast: 1 where a change gains nothing.",
    ),
    "difference": (
        lambda machine, changes: [gain - 1 for gain in _exact_gains(machine, changes)],
        "A change that gains nothing leaves the training 1 time as fast, not 0 times.",
    ),
}

"""Seconds of each stage of a step, and the model of lesson 03 that says what a change of them brings."""

import math
from typing import NamedTuple

from course_utils.diagnosis.judge.evidence import (
    DELAY,
    GAP,
    GAP_CPU,
    OTHERS,
    READY,
    WAIT,
    Loader,
    mean,
    median,
    total,
)  # fmt: skip
from course_utils.diagnosis.judge.steps import measured, pause_limit, rest, stall, undelayed, usual_fetches

OWN = 2.5e-6  # seconds that the record of a sample takes
MANY_PARTS = 20  # of a batch
ASKED = 2  # times that the worker's thread needs the lock to give away a tensor
ENOUGH = 10  # times that a worker's thread asked for the lock


class Stages(NamedTuple):
    """A step in seconds.

    Attributes:
        load: Time in which one worker loads a batch.
        load_cpu: Of it, on a core.
        workers: Workers, 0 for none.
        cores: Cores that the loading may use.
        compute: Time between two batches, pauses not included.
        compute_cpu: CPU time in it, of all threads.
        hand_over: Time that the main process needs to take a batch that is ready.
        rest: Pauses and starts of epochs, a step's share.
        stall: Waiting for a slow batch while later ones are ready, a step's share.
        passes: Passes a step: nothing overlaps the first batch of each.
        asks: How often taking a batch waits for the interpreter's lock of a worker that is loading.
        late: Seconds of one such wait.
    """

    load: float
    load_cpu: float
    workers: int
    cores: int
    compute: float
    compute_cpu: float
    hand_over: float
    rest: float
    stall: float = 0.0
    passes: float = 0.0
    asks: float = 0.0
    late: float = 0.0

    @property
    def lock(self) -> float:
        """Seconds that taking a batch waits for the lock of a worker; no wait is longer than the loading."""
        return self.asks * min(self.late, self.load)

    def scaled(self, share: float) -> "Stages":
        """The stages if a share of the steps did the same."""
        times = ("load", "load_cpu", "compute", "compute_cpu", "hand_over", "rest", "stall", "asks")
        return self._replace(**{name: getattr(self, name) * share for name in times})

    def step(self) -> float:
        """Seconds per step: the slowest stage where they overlap, their sum where they do not."""
        if not self.workers:
            return self.load + self.compute + self.rest
        filling = self.load * self.passes
        side_by_side = min(self.workers, self.cores) if self.load_cpu > self.load / 2 else self.workers
        computing = min(self.compute_cpu, self.compute * self.cores)
        handing = 2 * self.hand_over  # the worker's side of it, and that of the main process
        on_cores = (self.load_cpu + computing + handing) / max(self.cores, 1)
        loading, taking = max(self.load / side_by_side, on_cores), self.compute + self.hand_over
        # The lock is waited for in that part of the step in which a worker loads.
        taking = (taking + math.sqrt(taking**2 + 4 * self.lock * loading)) / 2
        return max(loading, taking) + self.rest + self.stall + filling


def stages(loader: Loader) -> Stages:
    """The stages of a loader's step, without the time in which a process waited for a core."""
    steps, fetches = measured(loader), loader.fetches()
    usual = usual_fetches(fetches)
    load = undelayed(usual) if loader.workers and usual else steps.wait * max(loader.workers, 1)
    load = max(load - OWN * mean(fetch["samples"] for fetch in usual), load / 5)
    if not loader.workers:
        load *= max(1 - total(fetches, "delay") / max(total(fetches, "wall"), 1e-9), 0.1)
    rows, limit = loader.rows(), pause_limit(loader.rows())
    gaps = [row for row in rows if row[GAP] >= 0 and row[GAP] - row[OTHERS] <= limit]
    epochs = loader.steady_epochs()
    return Stages(
        load=load,
        load_cpu=mean(fetch["cpu"] for fetch in usual),
        workers=loader.workers,
        cores=cores(loader),
        compute=mean(max(row[GAP] - row[OTHERS] - row[DELAY], 0.0) for row in gaps),
        compute_cpu=mean(row[GAP_CPU] for row in gaps),
        hand_over=_hand_over(loader) if loader.workers else 0.0,
        rest=rest(loader),
        passes=len(epochs) / max(total(epochs, "count"), 1),
        stall=stall(loader, steps.compute) if loader.workers > 1 else 0.0,
        asks=_asks(loader) if loader.workers else 0.0,
        late=_late(loader),
    )


def hand_over(nbytes: float) -> float:
    """What taking a batch of few tensors costs the main process."""
    return 0.0003 + nbytes / 4e9


def _hand_over(loader: Loader) -> float:
    """What taking a batch costs that is ready: measured where it has many parts, else little."""
    batches = loader.of("batch")
    parts = median(batch["parts"] for batch in batches)
    nbytes = median(batch["nbytes"] + 4 * batch["array_bytes"] for batch in batches)
    ready = [row[WAIT] for row in loader.rows() if row[READY] > 0]
    if parts <= MANY_PARTS or not ready:
        return hand_over(nbytes)
    return min(median(ready), 0.001 + 0.0005 * parts + nbytes / 1e9)


def _asks(loader: Loader) -> float:
    """How often a batch's tensors need the lock, if the main process asks the worker for each."""
    parts = median(batch["parts"] for batch in loader.of("batch"))
    return ASKED * parts if loader.main.get("sharing") == "file_descriptor" and parts <= MANY_PARTS else 0.0


def _late(loader: Loader) -> float:
    """What a thread of a worker waits for the lock on average; 0 where that was seen too rarely."""
    last = {record["pid"]: record["late"] for record in loader.of("process")}
    times = sum(times for _, times in last.values())
    return float(sum(seconds for seconds, _ in last.values()) / times) if times >= ENOUGH else 0.0


def cores(loader: Loader) -> int:
    """Cores that the workers of a loader may use, together."""
    allowed = {core for record in loader.of("process") for core in record["cores"]}
    most = int(loader.main.get("cores", 1))
    return min(len(allowed), most) if allowed else most

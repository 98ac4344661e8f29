"""Seconds of each stage of a step, and the model of lesson 03 that says what a change of them brings."""

from collections import defaultdict
from typing import NamedTuple

from course_utils.diagnosis.judge.evidence import (
    DELAY,
    GAP,
    GAP_CPU,
    OTHERS,
    WAIT,
    Loader,
    Record,
    mean,
    median,
    quantile,
    total,
    union,
)

PAUSE = 20  # a gap this many times as long as the usual one is no step


def ms(seconds: float) -> str:
    """Milliseconds with three digits."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.2f} s"


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

    def step(self) -> float:
        """Seconds per step: the slowest stage where they overlap, their sum where they do not."""
        if not self.workers:
            return self.load + self.compute + self.rest
        side_by_side = min(self.workers, self.cores) if self.load_cpu > self.load / 2 else self.workers
        on_cores = (self.load_cpu + min(self.compute_cpu, self.compute * self.cores)) / max(self.cores, 1)
        return max(self.load / side_by_side, self.compute + self.hand_over, on_cores) + self.rest + self.stall


class Steps(NamedTuple):
    """What was measured of the steps of a loader.

    Attributes:
        wait: Mean seconds of waiting for a batch.
        spread: 5th and 95th percentile of it.
        compute: Mean seconds between two batches.
        share: Part of a step that is waiting.
        number: Steps that were measured.
    """

    wait: float
    spread: tuple[float, float]
    compute: float
    share: float
    number: int


def measured(loader: Loader) -> Steps:
    """Waiting and computing of a loader, in its steady passes."""
    rows = loader.rows()
    waits = sorted(row[WAIT] for row in rows)
    gaps = [max(row[GAP] - row[OTHERS], 0.0) for row in rows if row[GAP] >= 0]
    usual = median(gaps)
    compute = mean(gap for gap in gaps if gap <= max(PAUSE * usual, 0.02))
    wait = mean(waits)
    spread = (waits[len(waits) // 20], waits[-1 - len(waits) // 20]) if waits else (0.0, 0.0)
    return Steps(wait, spread, compute, wait / max(wait + compute, 1e-9), len(rows))


def stages(loader: Loader) -> Stages:
    """The stages of a loader's step, without the time in which a process waited for a core."""
    steps, fetches, epochs = measured(loader), loader.fetches(), loader.steady_epochs()
    count = max(total(epochs, "count"), 1)
    load = _usual_load(fetches) if fetches else steps.wait * max(loader.workers, 1)
    gap_cpu = mean(row[GAP_CPU] for row in loader.rows() if row[GAP] >= 0)
    passes = [(epoch["begun"], epoch["ended"]) for epoch in epochs]
    in_all = union(passes + loader.interruptions(passes[0][0]))
    # The first batch of a pass is waited for as long as it takes to load: that is loading, too.
    first = mean(fetch["wall"] for fetch in fetches) * len(epochs) / count
    delay = mean(max(row[DELAY], 0.0) for row in loader.rows() if row[GAP] >= 0)
    undelayed = 1 - total(fetches, "delay") / max(total(fetches, "wall"), 1e-9)
    ready = [row[WAIT] for row in loader.rows() if row[3] > 0] if loader.workers else []
    return Stages(
        load=(load if loader.workers else steps.wait) * max(undelayed, 0.1),
        load_cpu=total(fetches, "cpu") / max(len(fetches), 1),
        workers=loader.workers,
        cores=cores(loader),
        compute=max(steps.compute - delay, steps.compute / 10),
        compute_cpu=gap_cpu,
        hand_over=_hand_over(loader, ready),
        rest=max(in_all / count - steps.wait - steps.compute - first, 0.0),
        stall=_stall(loader, fetches, steps.compute) if loader.workers > 1 else 0.0,
    )


def hand_over(nbytes: float) -> float:
    """What taking a batch of few tensors costs the main process."""
    return 0.0003 + nbytes / 4e9


def _hand_over(loader: Loader, ready: list[float]) -> float:
    """What taking a batch costs that is ready; long waits for few parts have other reasons: busy cores."""
    batches = loader.of("batch")
    parts = median(batch["parts"] for batch in batches)
    nbytes = median(batch["nbytes"] + 4 * batch["array_bytes"] for batch in batches)
    if not ready:
        return hand_over(nbytes) if loader.workers else 0.0
    usual = median(ready) if parts > 20 else quantile(ready, 0.1)
    return min(usual, 0.001 + 0.0005 * parts + nbytes / 1e9)


def _stall(loader: Loader, fetches: list[Record], compute: float) -> float:
    """Seconds a step by which batches in order are slower than the workers' mean, by playing them through."""
    by_epoch: dict[str, list[Record]] = defaultdict(list)
    for fetch in fetches:
        by_epoch[fetch["epoch"]].append(fetch)
    excess, number = 0.0, 0
    for epoch in by_epoch.values():
        walls = [
            fetch["wall"] - fetch["delay"] for fetch in sorted(epoch, key=lambda fetch: float(fetch["start"]))
        ]
        free = [0.0] * loader.workers
        taken: list[float] = []
        for place, wall in enumerate(walls):
            worker, window = place % loader.workers, place - loader.workers * loader.settings["prefetch"]
            asked = taken[window] if window >= 0 else 0.0
            free[worker] = max(free[worker], asked) + wall
            taken.append(max(free[worker], taken[-1] + compute if taken else 0.0))
        even = max(sum(walls) / loader.workers, compute * len(walls))
        excess += max(taken[-1] - even, 0.0)
        number += len(walls)
    return excess / max(number, 1)


def _usual_load(fetches: list[Record]) -> float:
    """Mean time of a fetch, without the first of each worker and pass where there are enough others."""
    seen: set[tuple[str, int]] = set()
    later = []
    for fetch in fetches:
        key = (fetch["epoch"], fetch["worker"])
        later += [fetch["wall"]] if key in seen else []
        seen.add(key)
    return mean(later if len(later) >= len(fetches) / 2 else [fetch["wall"] for fetch in fetches])


def cores(loader: Loader) -> int:
    """Cores that the workers of a loader may use, together."""
    allowed = {core for record in loader.of("process") for core in record["cores"]}
    most = int(loader.main.get("cores", 1))
    return min(len(allowed), most) if allowed else most

"""What was measured of the steps of a loader, and of the time in which a step neither loads nor computes."""

from collections import defaultdict
from typing import NamedTuple

from course_utils.diagnosis.judge.evidence import (
    ENTER,
    GAP,
    OTHERS,
    WAIT,
    Loader,
    Record,
    mean,
    median,
    total,
    union,
)  # fmt: skip

PAUSE, LEAST_PAUSE = 20, 0.02  # times the usual gap between two batches, and seconds


def ms(seconds: float) -> str:
    """Milliseconds with three digits."""
    return f"{seconds * 1e3:.3g} ms" if seconds < 0.9995 else f"{seconds:.2f} s"


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
    limit = pause_limit(rows)
    gaps = [max(row[GAP] - row[OTHERS], 0.0) for row in rows if row[GAP] >= 0]
    compute = mean(gap for gap in gaps if gap <= limit)
    wait = mean(waits)
    spread = (waits[len(waits) // 20], waits[-1 - len(waits) // 20]) if waits else (0.0, 0.0)
    return Steps(wait, spread, compute, wait / max(wait + compute, 1e-9), len(rows))


def pause_limit(rows: list[list[float]]) -> float:
    """Seconds from which on a gap between two batches is a pause, no step."""
    return max(PAUSE * median(row[GAP] - row[OTHERS] for row in rows if row[GAP] >= 0), LEAST_PAUSE)


def usual_fetches(fetches: list[Record]) -> list[Record]:
    """Fetches without the first of each worker and pass, where there are enough others."""
    seen: set[tuple[str, int]] = set()
    later = []
    for fetch in fetches:
        key = (fetch["epoch"], fetch["worker"])
        later += [fetch] if key in seen else []
        seen.add(key)
    return later if len(later) >= len(fetches) / 2 else fetches


def undelayed(fetches: list[Record]) -> float:
    """Mean seconds of a fetch, without those in which it waited for a core."""
    return mean(fetch["wall"] - fetch["delay"] for fetch in fetches)


def rest(loader: Loader) -> float:
    """Pauses, starts and ends of the steady passes, a step's share."""
    epochs, rows = loader.steady_epochs(), loader.rows()
    load = undelayed(usual_fetches(loader.fetches()))
    delays: dict[str, float] = {}
    for fetch in loader.fetches():
        delays.setdefault(fetch["epoch"], fetch["delay"])
    firsts = [
        epoch["first_batch"] - epoch["begun"] - delays.get(epoch["name"], 0.0)
        for epoch in epochs
        if epoch["first_batch"]
    ]
    limit = pause_limit(rows)
    inside = sum(row[GAP] for row in rows if row[GAP] - row[OTHERS] > limit or row[OTHERS] > limit)
    passes = [(epoch["begun"], epoch["ended"]) for epoch in epochs]
    outside = union(passes + loader.interruptions(passes[0][0])) - union(passes)
    count = max(total(epochs, "count"), 1)
    starts = sum(max(seconds - load, 0.0) for seconds in firsts)
    ends = sum(ending(epoch) for epoch in epochs)
    return float(starts + ends + outside) / count + inside / max(len(rows), 1)


def ending(epoch: Record) -> float:
    """Seconds from the last step of a pass to its end: workers that are not persistent end, too."""
    if not epoch["rows"] or epoch["count"] > len(epoch["rows"]):
        return 0.0
    last = epoch["rows"][-1]
    return max(float(epoch["ended"] - last[ENTER] - last[WAIT] - max(last[GAP], 0.0)), 0.0)


def stall(loader: Loader, compute: float) -> float:
    """Seconds a step by which batches in order are slower than the workers' mean, by playing them through."""
    by_epoch: dict[str, list[Record]] = defaultdict(list)
    for fetch in loader.fetches():
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
        excess += max(taken[-1] - walls[0] - even, 0.0)
        number += len(walls)
    return excess / max(number, 1)

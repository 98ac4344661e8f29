"""Time in which a step neither loads nor computes: pauses, starts of epochs, stalls."""

from collections import defaultdict

from course_utils.diagnosis.judge.evidence import ENTER, GAP, OTHERS, WAIT, Loader, Record, total, union
from course_utils.diagnosis.judge.steps import pause_limit, undelayed, usual_fetches


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

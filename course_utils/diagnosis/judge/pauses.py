"""Rules about time outside of steps, about the device, and about ranks."""

from typing import Any

from course_utils.diagnosis.judge.evidence import (
    COLLECTED,
    GAP,
    WAIT,
    Loader,
    Record,
    mean,
    median,
    total,
    union,
)
from course_utils.diagnosis.judge.finding import Finding
from course_utils.diagnosis.judge.stages import Stages, stages
from course_utils.diagnosis.judge.steps import ending, measured, ms

LONG_START, LONG_PAUSES, COLLECTING = 0.15, 0.3, 0.05
RESET = 3e-3  # seconds that persistent workers need for a new pass


def findings(loader: Loader) -> list[Finding]:
    """Apply all rules to the loader that trains."""
    judged = [start(loader), pauses(loader), collection(loader), *device(loader)]
    return [finding for finding in judged if finding]


def start(loader: Loader) -> Finding | None:
    """Passes that begin with a long wait: of a sampler, of workers that start, of a dataset that is sent."""
    later = loader.epochs[1:] or loader.epochs
    seconds = mean(epoch["ended"] - epoch["begun"] for epoch in later)
    waits = [epoch["first_batch"] - epoch["begun"] for epoch in later if epoch["first_batch"]]
    sampling = mean(epoch["sampler_seconds"] for epoch in later)
    names = {epoch["name"] for epoch in later}
    fetched = [fetch for fetch in first_fetches(loader) if fetch["epoch"] in names]
    # Not the time in which others had the cores.
    firsts = [fetch["wall"] - fetch["delay"] for fetch in fetched]
    wait = mean(waits) - stages(loader).load - mean(fetch["delay"] for fetch in fetched)
    fetches = loader.fetches()
    own = 1 - total(fetches, "delay") / max(total(fetches, "wall"), 1e-9)
    if sampling > max(LONG_START * seconds, 0.1):
        text = f"{sampling:.2f} s of {seconds:.2f} s of an epoch pass in the sampler"
        return Finding("slow_start", [text], _shorter(loader, sampling))
    pids = [tuple(epoch["pids"]) for epoch in loader.epochs if epoch["pids"]]
    restarted = len(pids) > 1 and len(set(pids)) == len(pids) and not loader.settings["persistent"]
    if (
        not restarted
        and len(loader.epochs) > 1
        and mean(firsts) > max(LONG_START * seconds * own, 0.1, 5 * stages(loader).load)
    ):
        text = f"the first fetch of an epoch takes {mean(firsts):.2f} s of {seconds:.2f} s"
        return Finding("slow_start", [text], _shorter(loader, max(mean(firsts), wait) - RESET))
    if not loader.workers:
        return None
    sent = mean(epoch["made"] - epoch["begun"] for epoch in loader.epochs if epoch["made"])
    pickled = loader.settings["start"] != "fork" and sent > 0.5 * (
        loader.epochs[0]["first_batch"] - loader.epochs[0]["begun"]
    )
    long = wait > max(LONG_START * seconds, 0.1)
    if restarted and long:
        wait += mean(ending(epoch) for epoch in later) - RESET
        text = f"{wait:.2f} s of {seconds:.2f} s of an epoch pass to start and end workers"
        return Finding("workers_restarted", [text], _shorter(loader, wait))
    first = loader.epochs[0]["first_batch"] - loader.epochs[0]["begun"]
    if pickled and first > 0.5 and first > LONG_START * loader.seconds:
        text = (
            f"{first:.2f} s before the first batch, {sent:.2f} s of them to send the dataset to the workers"
        )
        return Finding("slow_start", [text], _shorter(loader, first * len(loader.epochs) / max(len(pids), 1)))
    return None


def first_fetches(loader: Loader) -> list[Record]:
    """The first fetch of each worker in each pass."""
    first: dict[tuple[str, int], Record] = {}
    for fetch in loader.of("fetch"):
        first.setdefault((fetch["epoch"], fetch["worker"]), fetch)
    return list(first.values())


def _shorter(loader: Loader, seconds: float) -> Any:
    """Take so many seconds an epoch away from what is not a step."""
    a_step = seconds * len(loader.epochs) / max(loader.count, 1)
    return lambda s: s._replace(rest=max(s.rest - a_step, 0.0))


def pauses(loader: Loader) -> Finding | None:
    """Passes over other loaders, and checkpoints, against all the time from first to last step."""
    first = loader.epochs[0]  # which includes what is done once, such as imports, if there are others
    begun = first["ended"] if len(loader.epochs) > 1 else first["begun"]
    spans = loader.interruptions(begun)
    ended = max([epoch["ended"] for epoch in loader.epochs] + [end for _, end in spans])
    share = union(spans) / max(ended - begun, 1e-9)
    if share < LONG_PAUSES or len(spans) < 2:
        return None
    text = f"{share:.0%} of {ended - begun:.1f} s: {len(spans)} validations and checkpoints"
    steady = loader.steady_epochs()
    a_step = union(loader.interruptions(steady[0]["begun"])) / max(total(steady, "count"), 1)
    return Finding(
        "pauses", [text], lambda s: s._replace(rest=max(s.rest - a_step / 2, 0.0))
    )  # half as often


def collection(loader: Loader) -> Finding | None:
    """Garbage collection in the main process or in the workers."""
    rows = [row for row in loader.rows() if row[GAP] >= 0]
    main = sum(row[COLLECTED] for row in rows) / max(sum(row[GAP] + row[WAIT] for row in rows), 1e-9)
    often = sum(row[COLLECTED] > 1e-4 for row in rows) >= 3
    firsts = first_fetches(loader)
    fetches = [fetch for fetch in loader.fetches() if fetch not in firsts]
    inside = total(fetches, "gc") / max(total(fetches, "wall"), 1e-9)
    waited = inside * measured(loader).share > COLLECTING
    if not (main > COLLECTING and often) and not (inside > 2 * COLLECTING and waited):
        return None
    text = f"{main:.0%} of the time between batches, and {inside:.0%} of a fetch, is collection"

    computing = sum(row[GAP] for row in rows)
    left = max(1 - sum(row[COLLECTED] for row in rows) / max(computing, 1e-9), 1e-3)

    def without(stage: Stages) -> Stages:
        return stage._replace(compute=stage.compute * left, load=stage.load * (1 - min(inside, 0.9)))

    return Finding("garbage_collection", [text], without)


def device(loader: Loader) -> list[Finding]:
    """Synchronisations and pageable copies, where there was a GPU."""
    counters, main = loader.main.get("counters", {}), loader.main
    steps, found = max(main.get("steps", 0), 1), []
    places = sorted(main.get("places", {}).items(), key=lambda item: -item[1])
    step = measured(loader).wait + measured(loader).compute
    waited = counters.get("synchronisation_seconds", 0.0) / steps
    if counters.get("synchronisations", 0) >= 0.9 * steps and waited > 0.05 * step:
        where = [place for place, _ in places if place.startswith("synch")][:1]
        text = (
            f"{counters['synchronisations'] / steps:.1f} synchronisations a step, {waited / step:.0%} of it"
        )
        host = max(step - waited, 0.0)
        found.append(
            Finding(
                "synchronised_steps",
                [text, *where],
                lambda s: s._replace(compute=s.compute - min(host, waited)),
            )
        )
    if counters.get("unpinned_copies", 0) >= 0.9 * steps:
        nbytes = counters.get("unpinned_bytes", 0.0) / steps
        seconds = nbytes / 6e9
        text = f"{nbytes / 2**20:.1f} MiB a step from pageable memory"
        if seconds > 0.05 * step:
            found.append(
                Finding("unpinned_copies", [text], lambda s: s._replace(compute=s.compute - seconds / 2))
            )
    return found


def ranks(loaders: list[Loader]) -> list[Finding]:
    """Compare the loaders that train, one of each rank."""
    by_rank: dict[tuple[int, int], Loader] = {}
    for loader in loaders:
        key = (int(loader.main.get("rank", 0)), int(loader.main.get("pid", 0)))
        if loader.training and (key not in by_rank or loader.seconds > by_rank[key].seconds):
            by_rank[key] = loader
    if len(by_rank) < 2:
        return []
    counts = {rank: loader.count for (rank, _), loader in by_rank.items()}
    waits = {rank: measured(loader).wait for (rank, _), loader in by_rank.items()}
    step = median(measured(loader).wait + measured(loader).compute for loader in by_rank.values())
    worst = max(waits, key=lambda rank: waits[rank])
    rest = [wait for rank, wait in waits.items() if rank != worst]
    if max(counts.values()) > 1.05 * min(counts.values()) + 1:
        even = mean(counts.values()) / max(counts.values())
        return [Finding("uneven_ranks", [f"batches by rank: {counts}"], lambda s: s.scaled(even))]
    if waits[worst] - mean(rest) > 0.1 * step:
        excess = waits[worst] - mean(rest)
        text = f"rank {worst} waits {ms(waits[worst])} for a batch, the others {ms(mean(rest))}"
        return [Finding("uneven_ranks", [text], lambda s: s._replace(load=max(s.load - excess, 0.0)))]
    return []

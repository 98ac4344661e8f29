"""Rules about slow loading: whether it is waited for, and what of the workers is wrong."""

from course_utils.diagnosis.judge import sources
from course_utils.diagnosis.judge.evidence import CPU, LATER, READY, WAIT, Loader, Record, mean, median
from course_utils.diagnosis.judge.fetches import Fetch, fetch_of
from course_utils.diagnosis.judge.finding import Finding
from course_utils.diagnosis.judge.stages import MANY_PARTS, Stages, cores, hand_over, stages
from course_utils.diagnosis.judge.steps import measured, ms

DEADBAND, WARNING, FEW_STEPS = 0.05, 0.20, 8
DELAYED = 0.25  # of a fetch, by others on the cores
FREEING = 15e-6  # seconds in which the main process lets go of a part of a batch
COPYING = 0.25  # of a fetch: reading from the page cache, without other work
LOCKED = 1.1  # times as long a step, from where on waits for a worker's lock are named
BOTTLENECK = 0.5  # of a step: workers that deliver faster than this are not waited for


def findings(loader: Loader) -> list[Finding]:
    """Say why a loader that is waited for is slow; nothing where it is not waited for."""
    steps = measured(loader)
    if steps.number < FEW_STEPS or not loader.fetches():
        return []
    fetch, stage = fetch_of(loader), stages(loader)
    if steps.share < WARNING and not _hidden_wait(fetch, stage):
        return []
    waiting = f"{steps.share:.0%} of a step is waiting: {ms(steps.wait)} of {ms(steps.wait + steps.compute)}"
    found = _found(loader, fetch, stage)
    return [finding._replace(evidence=[waiting, *finding.evidence]) for finding in found]


def _found(loader: Loader, fetch: Fetch, stage: Stages) -> list[Finding]:
    if not loader.workers:
        if busy_machine(loader, fetch, stage):
            return []
        tiny = sources.python_per_sample(loader, fetch, stage)
        return (
            [tiny] if tiny else [_no_workers(loader, fetch, stage), *sources.findings(loader, fetch, stage)]
        )
    found = expensive_handover(loader, fetch, stage) or slow_sample(loader)
    if found:
        return [found]
    found = too_many_threads(loader, fetch) or fewer_cores(loader, fetch)
    if found:
        return [found, *sources.findings(loader, fetch, stage)]
    if busy_machine(loader, fetch, stage):
        return []
    if in_time(loader):
        return handover_locked(stage)
    return sources.findings(loader, fetch, stage) or handover_locked(stage)


def _hidden_wait(fetch: Fetch, stage: Stages) -> bool:
    """Whether a step would wait for loading, did computing not wait for a core itself.

    Waits for a lock do not count: who holds it may wait for a core.
    """
    step = stage._replace(rest=0.0, asks=0.0).step()
    return fetch.delay >= DELAYED and step - stage.compute >= WARNING * step


def in_time(loader: Loader) -> bool:
    """Whether workers deliver faster than batches are asked for."""
    steps = measured(loader)
    wall = mean(fetch["wall"] for fetch in loader.fetches())
    return wall / loader.workers < BOTTLENECK * (steps.wait + steps.compute)


def busy_machine(loader: Loader, fetch: Fetch, stage: Stages) -> bool:
    """Whether there would be nothing to wait for, did others not use the cores."""
    if loader.workers > stage.cores or fetch.delay < DELAYED:
        return False
    if not loader.workers:
        return stage.load < WARNING * (stage.load + stage.compute)
    step = stage._replace(rest=0.0, hand_over=0.0, asks=0.0).step()
    return step - stage.compute < 2 * DEADBAND * step


def _no_workers(loader: Loader, fetch: Fetch, stage: Stages) -> Finding:
    most = max(cores(loader), 1)
    text = f"the loader has 0 workers, {most} cores may be used"
    if fetch.delay >= DELAYED:  # others use the rest
        most = max(int(most * (1 - fetch.delay)), 1)
        text += f", and {fetch.delay:.0%} of a fetch waits for one"
    taking = hand_over(fetch.nbytes)

    def change(stage: Stages) -> Stages:
        return stage._replace(workers=most, hand_over=taking)

    # Workers share the memory and the kernel, which whole files keep busy: what they gain is not predicted.
    copied = fetch.asked * fetch.read / sources.READING > COPYING * stage.load
    return Finding("no_workers", [text], None if copied else change, fill={"workers": str(most)})


def slow_sample(loader: Loader) -> Finding | None:
    """Long waits during which later batches arrived."""
    rows, fetches = loader.rows(), loader.fetches()
    usual = median(_undelayed(fetch) for fetch in fetches)
    slow = [fetch for fetch in fetches if _undelayed(fetch) > 5 * usual]
    held = [row for row in rows if row[LATER] > 0 and row[WAIT] > 2 * usual]
    if len(slow) < 3 or len(held) < 2 or len(slow) > len(fetches) / 4:
        return None
    if sum(map(_undelayed, slow)) < 0.4 * sum(map(_undelayed, fetches)):
        return None
    worst = max(slow, key=lambda fetch: float(fetch["slowest"][0]))
    text = (
        f"{len(slow)} of {len(fetches)} fetches took over 5 times the usual {ms(usual)}; "
        f"sample {worst['slowest'][1]}: {ms(worst['slowest'][0])}; {len(held)} waits with later ones ready"
    )
    others = [fetch for fetch in fetches if fetch not in slow]
    balanced = mean(_undelayed(fetch) for fetch in others)
    cpu = mean(fetch["cpu"] for fetch in others)
    return Finding("slow_sample", [text], lambda s: s._replace(load=balanced, load_cpu=cpu, stall=0.0))


def _undelayed(fetch: Record) -> float:
    return float(fetch["wall"] - fetch["delay"])


def expensive_handover(loader: Loader, fetch: Fetch, stage: Stages) -> Finding | None:
    """Batches of many parts, and a main process that is busy taking them."""
    rows = loader.rows()
    if fetch.parts <= MANY_PARTS and fetch.pickled <= 1 << 16:
        return None
    busy = sum(row[CPU] for row in rows) / max(sum(row[WAIT] for row in rows), 1e-9)
    ready = [row[WAIT] for row in rows if row[READY] > 0]
    step = measured(loader).wait + stage.compute
    unexplained = fetch.wall / min(loader.workers, stage.cores) < 0.6 * step
    if not (busy > 0.4 or (len(ready) > 0.4 * len(rows) and median(ready) > 1e-3) or unexplained):
        return None
    pickled = f"{fetch.pickled / 1024:.0f} KiB are pickled"
    text = f"a batch has {fetch.parts:.0f} parts, {pickled}; taking it: {busy:.0%} CPU"
    taking = hand_over(fetch.nbytes + fetch.pickled)
    freeing = fetch.parts * FREEING

    def change(stage: Stages) -> Stages:
        compute = max(stage.compute - freeing, stage.compute / 10)
        return stage._replace(hand_over=min(taking, stage.hand_over), compute=compute)

    return Finding("expensive_handover", [text], change)


def handover_locked(stage: Stages) -> list[Finding]:
    """Taking a batch waits for threads of workers, which loading in Python keeps from running."""
    without = stage._replace(asks=0.0)
    if stage.step() < LOCKED * without.step():
        return []
    text = f"a batch waits up to {ms(stage.lock)} for the interpreter's lock of a worker that loads the next"
    return [Finding("handover_locked", [text], lambda s: s._replace(asks=0.0))]


def too_many_threads(loader: Loader, fetch: Fetch) -> Finding | None:
    """Busy threads in workers, together more than cores."""
    threads = fetch.busy_threads * loader.workers
    if fetch.busy_threads < 2 or threads <= cores(loader) or fetch.others < 0.25 * fetch.cpu:
        return None
    text = f"{loader.workers} workers × {fetch.busy_threads:.0f} busy threads on {cores(loader)} cores"
    all_threads = ms(fetch.wall * (fetch.cpu + fetch.others))
    taken = f"a fetch takes {ms(fetch.wall)}, and {all_threads} of all its threads on a core"
    # No gain is predicted: threads that spin and evict each other's caches look like work.
    return Finding("too_many_threads", [text, taken])


def fewer_cores(loader: Loader, fetch: Fetch) -> Finding | None:
    """More workers than cores, or an affinity narrower than that of the main process."""
    allowed, main = cores(loader), int(loader.main.get("cores", 1))
    if loader.workers <= allowed or fetch.delay < 0.2:
        return None
    text = f"{loader.workers} workers on {allowed} cores, {fetch.delay:.0%} of a fetch waits for a core"
    believed = max(main, int(loader.main.get("cpus") or 1))
    return Finding("fewer_cores", [text, f"the machine has {believed}"], lambda s: s._replace(cores=believed))

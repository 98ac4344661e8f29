"""Rules about slow loading: where the time of a fetch goes decides."""

import time
from typing import NamedTuple

import numpy as np

from course_utils.diagnosis.judge.evidence import CPU, LATER, READY, WAIT, Loader, Record, median, total
from course_utils.diagnosis.judge.finding import Finding
from course_utils.diagnosis.judge.stages import Stages, cores, measured, ms, stages

DEADBAND, WARNING = 0.05, 0.20
BOTTLENECK = 0.5  # of a step: workers that deliver faster than this are not waited for
TINY = 50e-6  # seconds of a sample that is in memory
READING = 3e9  # bytes a second from the page cache


class Fetch(NamedTuple):
    """Means of a loader's fetches; times are shares of a fetch, counts are per sample."""

    wall: float
    cpu: float
    delay: float
    blocked: float
    others: float
    sample: float
    collate: float
    decode: float
    opens: float
    looked: float
    failed: float
    listings: float
    read: float
    used: float
    decodes: float
    ratio: float
    draws: bool
    nbytes: float
    float_bytes: float
    parts: float
    pickled: float
    busy_threads: float


def fetch_of(loader: Loader) -> Fetch:
    """Put the fetches of a loader together."""
    fetches, batches = loader.fetches(), loader.of("batch")
    wall, samples = max(total(fetches, "wall"), 1e-9), max(total(fetches, "samples"), 1)
    cpu, delay = total(fetches, "cpu") / wall, total(fetches, "delay") / wall
    asked = median(batch["asked"] for batch in batches) or 1
    used = median(batch["nbytes"] + batch["array_bytes"] for batch in batches) / asked
    pixels = max(median(batch["pixels"] for batch in batches), total(fetches, "cropped") / samples)
    decodes = total(fetches, "decodes") / samples
    return Fetch(
        wall=wall / max(len(fetches), 1), cpu=cpu, delay=delay, blocked=max(1 - cpu - delay, 0.0),
        others=total(fetches, "others") / wall,
        sample=median(fetch["sample_seconds"] / max(fetch["samples"], 1) for fetch in fetches),
        collate=sum(fetch["collate"][0] for fetch in fetches) / wall,
        decode=total(fetches, "decode_seconds") / wall,
        opens=total(fetches, "opens") / samples, looked=total(fetches, "stats") / samples,
        failed=total(fetches, "failed") / samples, listings=total(fetches, "listings") / samples,
        read=total(fetches, "read") / samples, used=used, decodes=decodes,
        ratio=total(fetches, "decoded") / samples / pixels if pixels else 0.0, draws=_draws(loader),
        nbytes=median(batch["nbytes"] for batch in batches),
        float_bytes=median(batch["float_bytes"] for batch in batches),
        parts=median(batch["parts"] for batch in batches),
        pickled=median(batch["array_bytes"] for batch in batches), busy_threads=_busy_threads(loader),
    )  # fmt: skip


def _draws(loader: Loader) -> bool:
    """Whether a fetch used a generator of random numbers."""
    before: dict[tuple[str, int, int], dict[str, int]] = {}
    for record in loader.of("states"):
        key = (record["epoch"], record["worker"], record["fetch"])
        if record["when"] == "before":
            before[key] = record["hashes"]
        elif key in before and before[key] != record["hashes"]:
            return True
    return False


def _busy_threads(loader: Loader) -> float:
    """Median number of threads of a worker that compute."""
    latest = {record["pid"]: record["threads"] for record in loader.of("process")}
    counts = []
    for threads in latest.values():
        most = max(threads.values(), default=0.0)
        counts.append(sum(seconds >= max(most / 4, 0.05) for seconds in threads.values()))
    return median(counts)


def findings(loader: Loader) -> list[Finding]:
    """Say why a loader that is waited for is slow; nothing where it is not waited for."""
    steps = measured(loader)
    if steps.share < WARNING or steps.number < 8 or not loader.fetches():
        return []
    fetch, stage = fetch_of(loader), stages(loader)
    waiting = [
        f"{steps.share:.0%} of a step is waiting: {ms(steps.wait)} of {ms(steps.wait + steps.compute)}"
    ]
    if loader.workers == 0:
        alone = busy_machine(loader, fetch, stage)
        return [] if alone else _without_workers(loader, fetch, stage, waiting)
    found = expensive_handover(loader, fetch, stage, waiting) or slow_sample(loader, waiting)
    if found:
        return [found]
    found = too_many_threads(loader, fetch, waiting) or fewer_cores(loader, fetch, waiting)
    in_time = fetch.wall / loader.workers < BOTTLENECK * (steps.wait + steps.compute)
    if not found and (in_time or busy_machine(loader, fetch, stage)):
        return []
    return [*([found] if found else []), *_by_where_time_goes(loader, fetch, stage, waiting)]


def busy_machine(loader: Loader, fetch: Fetch, stage: Stages) -> bool:
    """Whether there would be nothing to wait for, did others not use the cores."""
    if loader.workers > stage.cores or fetch.delay < 0.25:
        return False
    if not loader.workers:
        return stage.load < WARNING * (stage.load + stage.compute)
    step = stage._replace(rest=0.0, hand_over=0.0).step()
    return step - stage.compute < 2 * DEADBAND * step


def _without_workers(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> list[Finding]:
    tiny = python_per_sample(loader, fetch, stage, waiting)
    if tiny:
        return [tiny]
    most = cores(loader)
    evidence = [*waiting, f"the loader has 0 workers, {most} cores may be used"]
    none = Finding("no_workers", evidence, lambda s: _with_workers(s, most, fetch))
    return [none, *_by_where_time_goes(loader, fetch, stage, waiting)]


def _with_workers(stage: Stages, workers: int, fetch: Fetch) -> Stages:
    return stage._replace(workers=max(workers, 1), hand_over=0.0005 + fetch.nbytes / 4e9)


def _by_where_time_goes(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> list[Finding]:
    rules = (
        too_much_read,
        file_per_sample,
        decoded_at_full_size,
        python_per_sample,
        floats_in_worker,
        converted,
    )
    for rule in rules:
        if found := rule(loader, fetch, stage, waiting):
            return [found]
    return []


def slow_sample(loader: Loader, waiting: list[str]) -> Finding | None:
    """Long waits during which later batches arrived."""
    rows, fetches = loader.rows(), loader.fetches()
    usual = median(_undelayed(fetch) for fetch in fetches)
    slow = [fetch for fetch in fetches if _undelayed(fetch) > 5 * usual]
    held = [row for row in rows if row[LATER] > 0 and row[WAIT] > 2 * usual]
    if len(slow) < 3 or len(held) < 2 or len(slow) > len(fetches) / 4:
        return None
    if sum(row[WAIT] for row in held) < 0.4 * sum(row[WAIT] for row in rows):
        return None
    worst = max(slow, key=lambda fetch: float(fetch["slowest"][0]))
    text = (
        f"{len(slow)} of {len(fetches)} fetches took over 5 times the usual {ms(usual)}; "
        f"sample {worst['slowest'][1]}: {ms(worst['slowest'][0])}; {len(held)} waits with later ones ready"
    )
    balanced = sum(_undelayed(fetch) for fetch in fetches if fetch not in slow) / max(
        len(fetches) - len(slow), 1
    )
    return Finding("slow_sample", [*waiting, text], lambda s: s._replace(load=balanced))


def _undelayed(fetch: Record) -> float:
    return float(fetch["wall"] - fetch["delay"])


def expensive_handover(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> Finding | None:
    """Batches of many parts, and a main process that is busy taking them."""
    rows = loader.rows()
    if fetch.parts <= 20 and fetch.pickled <= 1 << 16:
        return None
    busy = sum(row[CPU] for row in rows) / max(sum(row[WAIT] for row in rows), 1e-9)
    ready = [row[WAIT] for row in rows if row[READY] > 0]
    unexplained = fetch.wall / min(loader.workers, stage.cores) < 0.6 * (
        measured(loader).wait + stage.compute
    )
    if not (busy > 0.4 or (len(ready) > 0.4 * len(rows) and median(ready) > 1e-3) or unexplained):
        return None
    pickled = f"{fetch.pickled / 1024:.0f} KiB are pickled"
    text = f"a batch has {fetch.parts:.0f} parts, {pickled}; taking it: {busy:.0%} CPU"
    return Finding("expensive_handover", [*waiting, text], lambda s: s._replace(hand_over=0.001))


def too_many_threads(loader: Loader, fetch: Fetch, waiting: list[str]) -> Finding | None:
    """Busy threads in workers, together more than cores."""
    threads = fetch.busy_threads * loader.workers
    if fetch.busy_threads < 2 or threads <= cores(loader) or fetch.others < 0.2:
        return None
    text = f"{loader.workers} workers × {fetch.busy_threads:.0f} busy threads on {cores(loader)} cores"
    return Finding(
        "too_many_threads", [*waiting, text, f"{fetch.delay:.0%} of a fetch waits for a core"],
        lambda s: s._replace(load=s.load_cpu / max(fetch.busy_threads, 1), cores=s.cores),
    )  # fmt: skip


def fewer_cores(loader: Loader, fetch: Fetch, waiting: list[str]) -> Finding | None:
    """More workers than cores, or an affinity narrower than that of the main process."""
    allowed, main = cores(loader), int(loader.main.get("cores", 1))
    if loader.workers <= allowed or fetch.delay < 0.2:
        return None
    text = f"{loader.workers} workers on {allowed} cores, {fetch.delay:.0%} of a fetch waits for a core"
    believed = max(main, int(loader.main.get("cpus") or 1))
    return Finding(
        "fewer_cores", [*waiting, text, f"the machine has {believed}"],
        lambda s: s._replace(cores=believed),
    )  # fmt: skip


def too_much_read(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> Finding | None:
    """Look-ups that fail, listings, or far more bytes than a sample has."""
    if fetch.decode > 0.5:
        return None
    looked = fetch.listings >= 0.1 or fetch.failed >= 0.1 or fetch.looked >= 4
    ratio = fetch.read / fetch.used if fetch.used and fetch.decodes < 0.5 else 0.0
    reading = fetch.read / READING * max(stage.load / max(fetch.wall, 1e-9), 1) / max(fetch.sample, 1e-9)
    too_many = fetch.read > 1 << 16 and (ratio > 8 or (ratio > 3 and max(fetch.blocked, reading) > 0.25))
    if not looked and not too_many:
        return None
    text = (
        f"a sample: {fetch.looked:.1f} look-ups ({fetch.failed:.1f} failed), {fetch.listings:.1f} listings, "
        f"{fetch.read / 1024:.0f} KiB read for {fetch.used / 1024:.0f} KiB used"
    )
    left = max(1 / ratio if too_many else 0.2, 0.1)
    return Finding("too_much_read", [*waiting, text], lambda s: _load(s, left))


def file_per_sample(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> Finding | None:
    """A file for each sample, on a storage that lets the worker wait."""
    if fetch.opens < 0.5 or _share(fetch.blocked, fetch) < 0.4:
        return None
    text = f"{fetch.opens:.1f} opens a sample; a fetch is blocked for {fetch.blocked:.0%} of {ms(fetch.wall)}"
    return Finding("file_per_sample", [*waiting, text], lambda s: _load(s, 1 - 0.9 * fetch.blocked))


def decoded_at_full_size(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> Finding | None:
    """Decoding is most of the work, and most of the pixels are thrown away."""
    if fetch.decodes < 0.5 or fetch.ratio < 4 or fetch.decode < 0.25:
        return None
    text = f"{fetch.ratio:.0f} times the pixels that are used; decoding and resizing are {fetch.decode:.0%}"
    left = 1 - (1 - 1 / fetch.ratio) * fetch.decode * 0.8  # a reduced decode still reads all coefficients
    return Finding("decoded_at_full_size", [*waiting, text], lambda s: _load(s, left))


def python_per_sample(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> Finding | None:
    """Tiny samples from memory: Python and collate are all the work."""
    in_memory = fetch.opens < 0.05 and fetch.read < 256 and fetch.decodes < 0.05
    samples = median(batch["asked"] for batch in loader.of("batch"))
    if loader.settings["iterable"] or not in_memory or samples < 16 or fetch.sample > TINY:
        return None
    if not any(record.get("default_collate") for record in loader.of("process")):
        return None
    text = f"{samples:.0f} samples a batch, {fetch.sample * 1e6:.0f} µs each, {fetch.collate:.0%} in collate"
    return Finding("python_per_sample", [*waiting, text], lambda s: _load(s, 0.1))


def floats_in_worker(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> Finding | None:
    """Floats that were bytes, and their conversion is a large part of the work."""
    if fetch.float_bytes < 0.5 * max(fetch.nbytes, 1) or fetch.nbytes < 1 << 20 or fetch.decode > 0.4:
        return None
    seconds = _conversion_seconds(fetch.nbytes)
    share = seconds / max(fetch.wall * fetch.cpu, 1e-9)
    copied = 0.75 * fetch.collate if fetch.parts < 20 else 0.0
    if share + copied < 0.25:
        return None
    text = (
        f"{fetch.nbytes / 2**20:.1f} MiB of floats a batch take at most 256 values; bytes would be a quarter"
    )
    return Finding("floats_in_worker", [*waiting, text], lambda s: _load(s, max(1 - share - copied, 0.2)))


def _conversion_seconds(nbytes: float) -> float:
    """Time of turning bytes into that many bytes of floats, and of copying them, on this machine."""
    pixels = np.zeros(min(int(nbytes / 4), 4_000_000), np.uint8)
    times = []
    for _ in range(3):
        begin = time.thread_time()
        floats = pixels.astype(np.float32)
        floats /= 255
        floats -= 0.5
        floats.copy()
        times.append(time.thread_time() - begin)
    return min(times) * nbytes / 4 / pixels.size


def converted(loader: Loader, fetch: Fetch, stage: Stages, waiting: list[str]) -> Finding | None:
    """Work on a core that draws no random numbers, so that its result could be kept."""
    busy = _share(fetch.cpu, fetch)
    by_default = any(record.get("default_collate") for record in loader.of("process"))
    in_collate = fetch.collate >= 0.5 and not by_default
    in_sample = not fetch.draws and fetch.sample > TINY and fetch.decode < 0.4 and fetch.collate < 0.5
    if busy < 0.6 or not (in_collate or in_sample):
        return None
    where = _hottest(loader)
    text = (
        f"{fetch.collate:.0%} of a fetch in collate"
        if in_collate
        else f"{ms(fetch.sample)} a sample, no random numbers"
    )
    left = 1 - (fetch.collate if in_collate else 0.9 * (1 - fetch.collate))
    return Finding("converted_each_time", [*waiting, text, *where], lambda s: _load(s, max(left, 0.1)))


def _hottest(loader: Loader) -> list[str]:
    stacks: dict[str, int] = {}
    for record in loader.of("process"):
        for line, count in record["stacks"]:
            stacks[line] = max(stacks.get(line, 0), count)
    lines = sorted(stacks.items(), key=lambda item: -item[1])[:1]
    return [f"most often met at {line}" for line, _ in lines]


def _load(stage: Stages, left: float) -> Stages:
    return stage._replace(load=stage.load * left, load_cpu=stage.load_cpu * left)


def _share(part: float, fetch: Fetch) -> float:
    """A part of the time that a fetch did not wait for a core."""
    return part / max(fetch.cpu + fetch.blocked, 1e-9)

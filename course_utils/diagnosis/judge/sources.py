"""Rules about where samples come from: by where the time of a fetch goes, the first that applies."""

import time

import numpy as np

from course_utils.diagnosis.judge.evidence import Loader
from course_utils.diagnosis.judge.fetches import Fetch
from course_utils.diagnosis.judge.finding import Change, Finding
from course_utils.diagnosis.judge.stages import Stages
from course_utils.diagnosis.judge.steps import ms

TINY = 50e-6  # seconds of a sample that is in memory
READING = 3e9  # bytes a second from the page cache
# Seconds that are left:
ACCESS = 10e-6  # of a sample in memory, with its part of collate
OPEN, OPEN_CPU = 200e-6, 60e-6  # of opening a file and reading its head; of it, on a core, in Python
SLICE = 50e-6  # of a batch that is one slice
PICTURE = 150e-6  # of a picture beside its decoding
# Bytes a pixel of which a reduced decode saves half: it reads all bytes (10 ns each), but makes few of the
# pixels (2 ns each). Measured with libjpeg-turbo at 0.1, 0.12 and 0.3 bytes a pixel.
HALF = 0.2
SMALLEST = 1 / 64  # of the pixels: what `draft` decodes at least
IN_FLIGHT = 8  # requests that a worker may well have at a time


def findings(loader: Loader, fetch: Fetch, stage: Stages) -> list[Finding]:
    """The first rule that applies."""
    rules = (
        too_much_read,
        request_per_sample,
        file_per_sample,
        decoded_at_full_size,
        python_per_sample,
        floats_in_worker,
        converted,
    )
    return next(([found] for rule in rules if (found := rule(loader, fetch, stage))), [])


def too_much_read(loader: Loader, fetch: Fetch, stage: Stages) -> Finding | None:
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
    if too_many:  # what is read of a file that stays open
        return Finding("too_much_read", [text], _less(1 / ratio, fetch.asked * ACCESS))
    return Finding("too_much_read", [text], _less(0.2, fetch.asked * (ACCESS + fetch.opens * OPEN)))


def request_per_sample(loader: Loader, fetch: Fetch, stage: Stages) -> Finding | None:
    """A request to a server for each sample, one after the other, and the worker waits."""
    blocked = fetch.share(fetch.blocked)
    if fetch.requests < 0.5 or blocked < 0.4:
        return None
    text = f"{fetch.requests:.1f} requests a sample; a fetch is blocked for {blocked:.0%} of {ms(fetch.wall)}"
    in_flight = max(min(IN_FLIGHT, fetch.requests * fetch.asked), 1)
    return Finding("request_per_sample", [text], _less(1 - blocked * (1 - 1 / in_flight)))


def file_per_sample(loader: Loader, fetch: Fetch, stage: Stages) -> Finding | None:
    """A file for each sample, on a storage that lets the worker wait."""
    blocked = fetch.share(fetch.blocked)
    if fetch.opens < 0.5 or blocked < 0.4:
        return None
    text = f"{fetch.opens:.1f} opens a sample; a fetch is blocked for {fetch.blocked:.0%} of {ms(fetch.wall)}"
    opening = fetch.opens * fetch.asked * OPEN_CPU / max(stage.load, 1e-9)
    return Finding("file_per_sample", [text], _less(1 - blocked - opening, fetch.asked * ACCESS))


def decoded_at_full_size(loader: Loader, fetch: Fetch, stage: Stages) -> Finding | None:
    """Decoding is most of the work, and most of the pixels are thrown away."""
    if fetch.decodes < 0.5 or fetch.ratio < 4 or fetch.decode < 0.25:
        return None
    text = f"{fetch.ratio:.0f} times the pixels that are used; decoding and resizing are {fetch.decode:.0%}"
    bytes_left = fetch.density / (fetch.density + HALF)
    unpacked = fetch.unpacked * (bytes_left + (1 - bytes_left) * min(max(4 / fetch.ratio, SMALLEST), 1))
    resized = (fetch.decode - fetch.unpacked) * min(8 / fetch.ratio, 1)
    # What is freed and copied beside the decoding shrinks with the pictures, too.
    beside = min(1 - fetch.decode, PICTURE * fetch.asked / fetch.wall)
    left = beside + unpacked + resized
    return Finding("decoded_at_full_size", [text], _less(left))


def python_per_sample(loader: Loader, fetch: Fetch, stage: Stages) -> Finding | None:
    """Tiny samples from memory: Python and collate are all the work."""
    many = not loader.settings["iterable"] and fetch.asked >= 16
    if not many or not fetch.in_memory or fetch.sample > TINY or not fetch.default_collate:
        return None
    text = (
        f"{fetch.asked:.0f} samples a batch, {fetch.sample * 1e6:.0f} µs each, {fetch.collate:.0%} in collate"
    )
    return Finding("python_per_sample", [text], _less(0.0, SLICE + fetch.asked * 1e-6))


def floats_in_worker(loader: Loader, fetch: Fetch, stage: Stages) -> Finding | None:
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
    # Without a device the main process converts instead: what that brings is not predicted.
    less = _less(max(1 - share - copied, 0.2)) if loader.main.get("cuda") else None
    return Finding("floats_in_worker", [text], less)


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


def converted(loader: Loader, fetch: Fetch, stage: Stages) -> Finding | None:
    """Work on a core that draws no random numbers, so that its result could be kept."""
    in_collate = fetch.collate >= 0.5 and not fetch.default_collate
    in_sample = not fetch.draws and fetch.sample > TINY and fetch.decode < 0.4 and fetch.collate < 0.5
    if fetch.share(fetch.cpu) < 0.6 or not (in_collate or in_sample):
        return None
    where = f"{ms(fetch.sample)} a sample, no random numbers"
    text = f"{fetch.collate:.0%} of a fetch in collate" if in_collate else where
    left = 1 - fetch.collate if in_collate else fetch.collate
    return Finding("converted_each_time", [text, *_hottest(loader)], _less(left, fetch.asked * ACCESS))


def _hottest(loader: Loader) -> list[str]:
    stacks: dict[str, int] = {}
    for record in loader.of("process"):
        for line, count in record["stacks"]:
            stacks[line] = max(stacks.get(line, 0), count)
    return [f"most often met at {max(stacks, key=lambda line: stacks[line])}"] if stacks else []


def _less(left: float, least: float = 0.0) -> Change:
    """Loading with so much of its time left, and at least so many seconds a batch."""

    def change(stage: Stages) -> Stages:
        share = min(max(left, least / max(stage.load, 1e-9)), 1.0)
        return stage._replace(load=stage.load * share, load_cpu=stage.load_cpu * share)

    return change

"""Epochs of `FastLoader` from the disk beside those from the page cache, for each kind of work.

Cold and warm epochs alternate in one process. Each cold one is compared with the mean of the two warm ones
around it, as the speed of a shared machine drifts.

    python -m tests.bench.loader --cold            # three minutes
    python -m tests.bench.loader --cold --record   # also cold_epochs.md, which the book shows
"""

import os
import sys
import time
from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from course_utils.cropping import Crop, RandomResizedCrop
from course_utils.loading import FastLoader, FlipAndNormalize
from course_utils.storage import page_cache
from course_utils.system import usable_cores
from tests.bench.loading.photographs import default_data
from tests.bench.recording.environment import environment, where_and_when
from tests.bench.recording.spread import Spread

PAGE = Path(__file__).parents[1] / "cold_epochs.md"
BATCH_SIZE = 64
STATS = Path("/proc/stat")

TEXT = """\
# Epochs from the disk

`FastLoader` on {cores} cores, in shuffled batches of {batch_size}: epochs before which nothing was in the \
page cache (cold), each divided by the mean of the two around it that found everything there (warm); median \
(and range) of {rounds} rounds ({environment}).

| work | images | warm, images/s | cold over warm | processor time, warm over cold |
|---|---|---|---|---|
{rows}

*Processor time* is that of the whole machine, what the kernel does for the disk included, without the time \
in which the cores were idle or the host took them. A loader that never waits loses as much speed as it \
needs more processor time.

Made by `python -m tests.bench.loader --cold --rounds {rounds} --record`.
"""


class Work(NamedTuple):
    """What a loader does with the packs of a data set; `full_size`: with those of mixed sizes."""

    full_size: bool
    crop: Crop | None = None
    transform: FlipAndNormalize | None = None


WORK = {
    "256x256, decoded": Work(False),
    "around 500x375, random crops of 224x224, uint8": Work(True, RandomResizedCrop(224)),
    "around 500x375, random crops of 224x224, normalised float32": Work(
        True, RandomResizedCrop(224), FlipAndNormalize(flip=0)
    ),
}


class Epoch(NamedTuple):
    """Wall time and processor time of an epoch, in seconds."""

    wall: float
    busy: float


def measure(shards: list[Path], work: Work, rounds: int) -> dict:
    """Measure warm and cold epochs by turns, beginning and ending with a warm one.

    Returns:
        The number of images, the warm speed in images/s, and by round how the speed and the processor time
        of the cold epoch compare with those of its warm neighbours.
    """
    loader = FastLoader(shards, BATCH_SIZE, crop=work.crop, transform=work.transform, shuffle=True)
    _epoch(loader)  # fills the page cache, and allocates the batches
    warm, cold = [_epoch(loader)], []
    for _ in range(rounds):
        if page_cache.evict(shards).fraction:
            sys.exit("the page cache keeps the packs: does another process use them?")
        cold.append(_epoch(loader))
        warm.append(_epoch(loader))
    around = [Epoch(*((one + two) / 2 for one, two in zip(*pair, strict=True))) for pair in pairwise(warm)]
    return {
        "images": len(loader.images),
        "warm": [len(loader.images) / one.wall for one in warm],
        "speed": [near.wall / far.wall for near, far in zip(around, cold, strict=True)],
        "busy": [near.busy / far.busy for near, far in zip(around, cold, strict=True)],
    }


def _epoch(loader: FastLoader) -> Epoch:
    start, busy = time.perf_counter(), _busy_seconds()
    deque(loader, maxlen=0)
    return Epoch(time.perf_counter() - start, _busy_seconds() - busy)


def _busy_seconds() -> float:
    """Return for how long the cores have worked since the machine started."""
    user, nice, system, _idle, _waiting, irq, softirq = map(int, STATS.read_text().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def row(name: str, found: dict) -> str:
    """Return one row of the table."""
    cells = [f"{found['images']:,}", Spread.of(found["warm"]).text(0)]
    cells += [Spread.of(found[key]).text() for key in ("speed", "busy")]
    return f"| {' | '.join([name, *cells])} |"


def main(rounds: int, record: bool) -> None:
    """Print the table and, on request, write the book's page."""
    rows = []
    for name, work in WORK.items():
        shards = sorted((default_data(work.full_size) / "zip_encoded").glob("*.zip"))
        if reason := page_cache.why_not_measurable(shards):
            sys.exit(f"cold epochs cannot be measured here: {reason}")
        rows.append(row(name, measure(shards, work, rounds)))
    text = TEXT.format(
        cores=usable_cores(),
        batch_size=BATCH_SIZE,
        rounds=rounds,
        environment=where_and_when(environment("torch", "simplejpeg", "turbojpeg")),
        rows="\n".join(rows),
    )
    print(text)
    if record:
        PAGE.write_text(text)

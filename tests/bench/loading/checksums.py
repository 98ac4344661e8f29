"""CPU time of `FastLoader`'s checksums: the same packs with `verify=True` and `verify=False`.

Epochs with and without checksums alternate in one process, over the JPEG and the raw pack of the data, with a
warm page cache.

    python -m tests.bench.loader --checksums            # less than a minute
    python -m tests.bench.loader --checksums --record   # also checksums.md, which the book shows
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from course_utils.loading import FastLoader
from course_utils.paths import data_dir
from tests.bench.recording.environment import environment, where_and_when
from tests.bench.recording.spread import Spread

PAGE = Path(__file__).parents[1] / "checksums.md"
PACKS = {"JPEG": "zip_encoded", "raw": "zip"}
BATCH_SIZE = 64

TEXT = """\
# What checksums cost

CPU time of `FastLoader` for each of {images:,} images of 256x256, with and without comparing checksums, in \
batches of {batch_size}, warm page cache; median (and range) of {rounds} rounds, in which both alternate \
({environment}).

| pack | `verify=True`, µs | `verify=False`, µs | more with checksums |
|---|---|---|---|
{rows}

The time is that of all threads, and includes what the kernel does for them.

Made by `python -m tests.bench.loader --checksums --record`.
"""


def cpu_seconds(loader: FastLoader) -> float:
    """Return the CPU time of one epoch, of all threads."""
    start = time.process_time()
    deque(loader, maxlen=0)
    return time.process_time() - start


def measure(shards: Sequence[Path], rounds: int, cost: Callable[[FastLoader], float] = cpu_seconds) -> dict:
    """Measure epochs with and without checksums by turns.

    Returns:
        CPU seconds per image: one number per round for True and one for False; and the number of images.
    """
    loaders = {verify: FastLoader(shards, BATCH_SIZE, verify=verify) for verify in (True, False)}
    images = len(loaders[True].images)
    found: dict = {True: [], False: [], "images": images}
    for number in range(-1, rounds):  # the first round warms up the page cache
        for verify in (True, False) if number % 2 else (False, True):
            seconds = cost(loaders[verify])
            if number >= 0:
                found[verify].append(seconds / images)
    return found


def row(pack: str, found: dict) -> str:
    """Return one pack's row of the table."""
    more = [100 * (one / other - 1) for one, other in zip(found[True], found[False], strict=True)]
    cells = [Spread.of(1e6 * seconds for seconds in found[verify]).text(0) for verify in (True, False)]
    return f"| {' | '.join([pack, *cells, Spread.of(more).text(1, ' %')])} |"


def main(rounds: int, record: bool) -> None:
    """Print the table and, on request, write the book's page."""
    found = {pack: measure(sorted((data_dir() / form).glob("*.zip")), rounds) for pack, form in PACKS.items()}
    text = TEXT.format(
        images=found["raw"]["images"],
        batch_size=BATCH_SIZE,
        rounds=rounds,
        environment=where_and_when(environment("torch", "simplejpeg")),
        rows="\n".join(row(pack, measured) for pack, measured in found.items()),
    )
    print(text)
    if record:
        PAGE.write_text(text)

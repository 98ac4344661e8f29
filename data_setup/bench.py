"""Benchmark making sets against the pixel work alone: decode, resample, encode, decode again.

Run `python -m data_setup bench`. `pixels` are worker processes that do only the pixel work and neither hash
nor write; `set` is the command that makes a set, including the start of its workers. The two alternate in
each round, so that load spikes affect both equally; after each set the page cache is flushed to disk.
"""

import io
import os
import shutil
import statistics
import tarfile
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from multiprocessing import get_context
from pathlib import Path

from data_setup.create.builder import Source, create_set
from data_setup.create.render import ItemT, Renderer, decode, encode
from data_setup.create.workers import start_method
from data_setup.format.errors import SetupError
from data_setup.sources.collection_source import CollectionSource
from data_setup.sources.photo_catalogue import PHOTOGRAPHS
from data_setup.sources.photo_source import PhotoSource, load_photograph

TYPICAL_SIZE = (500, 375)  # the most common size of ImageNet's files
TYPICAL_QUALITY = 98  # 105 kB per file; ImageNet's average is 130 kB


def run(count: int, rounds: int, workers: int, scratch: Path | None) -> None:
    """Print both rates and their ratio, for ImageNet and for the photographs.

    Args:
        count: Images per round.
        rounds: Number of rounds.
        workers: Number of processes.
        scratch: Where sets are made; None is the system's temporary folder.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        tar = write_collection(Path(folder) / "collection.tar", count)
        print(f"{count:,} images per round, {workers} workers, {rounds} rounds: median (minimum to maximum)")
        collection = CollectionSource(tar, tar.with_suffix(".txt"), count, seed=0)
        compare("imagenet", collection, workers, rounds, Path(folder))
        compare("photos", PhotoSource(count, seed=0), workers, rounds, Path(folder))


def write_collection(path: Path, count: int) -> Path:
    """Write a tar of so many images that resembles ImageNet's validation set, and labels beside it."""
    contents = []
    for label in range(len(PHOTOGRAPHS)):
        buffer = io.BytesIO()
        load_photograph(label).resize(TYPICAL_SIZE).save(buffer, "JPEG", quality=TYPICAL_QUALITY)
        contents.append(buffer.getvalue())
    with tarfile.open(path, "w") as tar:
        for number in range(count):
            info = tarfile.TarInfo(f"ILSVRC2012_val_{number + 1:08d}.JPEG")
            content = contents[number % len(contents)]
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    path.with_suffix(".txt").write_text("1\n" * count)
    return path


def compare(name: str, source: Source[ItemT], workers: int, rounds: int, scratch: Path) -> None:
    """Print images per second of the pixel work and of the set, which alternate, and their ratio."""
    pixels, made = [], []
    for number in range(rounds):
        pixels.append(pixels_seconds(source, workers))
        made.append(set_seconds(source, scratch / f"{name}{number}", workers))
        os.sync()
    for what, column in (("pixels", pixels), ("set", made)):
        print(f"{name:<9} {what:<14}{_spread([source.count / one for one in column], ',.0f')} images/s")
    ratios = [limit / one for limit, one in zip(pixels, made, strict=True)]
    print(f"{name:<9} {'set / pixels':<14}{_spread(ratios)}")


def _spread(values: Sequence[float], form: str = ".2f") -> str:
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def pixels_seconds(source: Source[ItemT], workers: int) -> float:
    """Measure the pixel work of all images in processes that have already started."""
    renderer = source.renderer()
    with ProcessPoolExecutor(workers, get_context(start_method())) as pool:
        list(pool.map(time.sleep, [0.1] * workers))
        items = source.items(range(source.count))
        start = time.perf_counter()
        list(pool.map(_pixel_work, [renderer] * workers, [items[first::workers] for first in range(workers)]))
        return time.perf_counter() - start


def _pixel_work(renderer: Renderer[ItemT], items: Sequence[ItemT]) -> None:
    for item in items:
        decode(encode(renderer.render(item).image))


def set_seconds(source: Source[ItemT], out: Path, workers: int) -> float:
    """Measure making a set in a process of its own, as the command does; then remove its archives.

    The JPEG files stay until the last round: ext4 avoids recently used inodes, and would create each new file
    30 times as slowly.
    """
    context = get_context(start_method())
    # The stub of the base class of all contexts lacks what each of them has.
    process = context.Process(target=_create_quietly, args=(source, out, workers))  # type: ignore[attr-defined]
    start = time.perf_counter()
    process.start()
    process.join()
    seconds = time.perf_counter() - start
    if process.exitcode:
        raise SetupError(f"the set in {out} was not made; the reason is printed above")
    for path in out.glob("zip*"):
        shutil.rmtree(path)
    return seconds


def _create_quietly(source: Source[ItemT], out: Path, workers: int) -> None:
    with redirect_stdout(io.StringIO()):
        create_set(source, out, shards=1, only=None, workers=workers)

"""Benchmark making sets against the pixel work alone: decode, resample, encode, decode again.

Run `python -m data_setup bench`. Three rates are measured:

- `pixels`: worker processes that do only the pixel work; they neither hash nor write.
- `files`: the same processes, which also write the bytes to files. On a virtual machine, getting memory for
  the page cache can take longer than the writing itself.
- `set`: the command that makes a set, including the start of its workers.

The three alternate in each round, so that load spikes affect all equally; after each one that writes, the
page cache is flushed to disk.
"""

import io
import os
import shutil
import statistics
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from multiprocessing import get_context
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from data_setup.create import Source, create_set, encode, start_method
from data_setup.format import ENCODED, RAW, SetupError
from data_setup.sources import (
    PHOTOGRAPHS,
    CollectionSource,
    PhotoSource,
    list_images,
    load_photograph,
    read_bytes,
    to_square,
)

Encoded = tuple[bytes, bytes]  # a JPEG file, and its pixels
PixelWork = Callable[[int], Encoded]  # makes the image at a position
ItemT = TypeVar("ItemT")

TYPICAL_SIZE = (500, 375)  # the most common size of ImageNet's files
TYPICAL_QUALITY = 98  # 105 kB per file; ImageNet's average is 130 kB


def run(count: int, rounds: int, workers: int, scratch: Path | None) -> None:
    """Print all rates and their ratios, for ImageNet and for the photographs.

    Args:
        count: Images per round.
        rounds: Number of rounds.
        workers: Number of processes.
        scratch: Where sets are made; None is the system's temporary folder.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        tar = write_collection(Path(folder) / "collection.tar", count)
        source = CollectionSource(tar, tar.with_suffix(".txt"), count, seed=0)
        listing = list_images(tar)
        files = [
            read_bytes(tar, listing[number], listing.status)
            for number in range(min(len(listing), len(PHOTOGRAPHS)))
        ]
        print(f"{count:,} images per round, {workers} workers, {rounds} rounds: median (minimum to maximum)")
        compare("imagenet", source, FilePixelWork(files), workers, rounds, Path(folder))
        photos = PhotoSource(count, seed=0)
        compare("photos", photos, PhotoPixelWork(photos), workers, rounds, Path(folder))


def write_collection(path: Path, count: int) -> Path:
    """Write a tar that resembles ImageNet's validation set, and labels beside it.

    Args:
        path: The tar.
        count: Number of images.
    """
    contents = [_typical_file(label) for label in range(len(PHOTOGRAPHS))]
    with tarfile.open(path, "w") as tar:
        for number in range(count):
            info = tarfile.TarInfo(f"ILSVRC2012_val_{number + 1:08d}.JPEG")
            content = contents[number % len(contents)]
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    path.with_suffix(".txt").write_text("1\n" * count)
    return path


def _typical_file(label: int) -> bytes:
    buffer = io.BytesIO()
    load_photograph(label).resize(TYPICAL_SIZE).save(buffer, "JPEG", quality=TYPICAL_QUALITY)
    return buffer.getvalue()


class FilePixelWork:
    """Decodes, resamples and encodes files in memory.

    Args:
        files: They are used in turn.
    """

    def __init__(self, files: Sequence[bytes]) -> None:
        self._files = files

    def __call__(self, number: int) -> Encoded:
        """Make the image at a position."""
        image, _ = to_square(self._files[number % len(self._files)], "x.JPEG")
        return encode(image)


class PhotoPixelWork:
    """Crops, resamples and encodes photographs, each decoded once per process.

    Args:
        source: Chooses the crops.
    """

    def __init__(self, source: PhotoSource) -> None:
        self._source = source

    def __call__(self, number: int) -> Encoded:
        """Make the image at a position."""
        return encode(self._source.render(number).image)


class WithFiles:
    """Pixel work whose bytes are also written: each JPEG to a file, and to one file per packed form.

    Args:
        work: The pixel work.
        folder: Where the files are written.
    """

    def __init__(self, work: PixelWork, folder: Path) -> None:
        self._work, self._folder = work, folder
        self._files: dict[str, BinaryIO] = {}

    def __call__(self, number: int) -> Encoded:
        """Make and write the image at a position."""
        jpeg, pixels = self._work(number)
        (self._folder / f"{number}.JPEG").write_bytes(jpeg)
        self._append(ENCODED, jpeg)
        self._append(RAW, pixels)
        return jpeg, pixels

    def _append(self, form: str, data: bytes) -> None:
        if form not in self._files:
            self._files[form] = (self._folder / f"{form}{os.getpid()}").open("xb", buffering=0)
        self._files[form].write(data)


class Cost(NamedTuple):
    """Cost of making all images once.

    Args:
        wall: Elapsed time in seconds.
        cpu: CPU time of all processes in seconds, which hardly depends on the load of the machine.
    """

    wall: float
    cpu: float


def compare(
    name: str, source: Source[ItemT], work: PixelWork, workers: int, rounds: int, scratch: Path
) -> None:
    """Print the three rates, which alternate in each round, and the ratios of each round."""
    costs: dict[str, list[Cost]] = {"pixels": [], "files": [], "set": []}
    for number in range(rounds):
        out = scratch / f"{name}{number}"
        costs["pixels"].append(pixels_cost(work, source.count, workers))
        costs["files"].append(files_cost(work, source.count, out.with_suffix(".files"), workers))
        os.sync()
        costs["set"].append(set_cost(source, out, workers))
        os.sync()
    for what, column in costs.items():
        print(f"{name:<9} {what:<14}{_spread([source.count / one.wall for one in column], ',.0f')} images/s")
    for what in ("pixels", "files"):
        pairs = list(zip(costs[what], costs["set"], strict=True))
        by_wall = _spread([limit.wall / made.wall for limit, made in pairs])
        by_cpu = _spread([limit.cpu / made.cpu for limit, made in pairs])
        print(f"{name:<9} {f'set / {what}':<14}{by_wall}; by CPU time {by_cpu}")


def _spread(values: Sequence[float], form: str = ".2f") -> str:
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def pixels_cost(work: PixelWork, count: int, workers: int) -> Cost:
    """Measure the pixel work of `count` images in processes that have already started."""
    with ProcessPoolExecutor(workers, get_context(start_method())) as pool:
        list(pool.map(time.sleep, [0.1] * workers))
        start = time.perf_counter()
        shares = [range(worker, count, workers) for worker in range(workers)]
        cpu = sum(pool.map(_repeat, [work] * workers, shares))
        return Cost(time.perf_counter() - start, cpu)


def files_cost(work: PixelWork, count: int, folder: Path, workers: int) -> Cost:
    """Measure the same with the bytes written to a new folder; then remove its big files."""
    folder.mkdir()
    cost = pixels_cost(WithFiles(work, folder), count, workers)
    for form in (ENCODED, RAW):
        for path in folder.glob(f"{form}*"):
            path.unlink()
    return cost


def _repeat(work: PixelWork, numbers: range) -> float:
    start = time.process_time()
    for number in numbers:
        work(number)
    return time.process_time() - start


def set_cost(source: Source[ItemT], out: Path, workers: int) -> Cost:
    """Measure making a set in a process of its own, as the command does; then remove its archives.

    The JPEG files stay until the last round: ext4 avoids recently used inodes, and would create each new file
    30 times as slowly.
    """
    context = get_context(start_method())
    # The stub of the base class of all contexts lacks what each of them has.
    process = context.Process(target=_create_quietly, args=(source, out, workers))  # type: ignore[attr-defined]
    start, cpu = time.perf_counter(), _cpu_seconds()
    process.start()
    process.join()
    cost = Cost(time.perf_counter() - start, _cpu_seconds() - cpu)
    if process.exitcode:
        raise SetupError(f"the set in {out} was not made; the reason is printed above")
    for form in (ENCODED, RAW):
        shutil.rmtree(out / form)
    return cost


def _create_quietly(source: Source[ItemT], out: Path, workers: int) -> None:
    with redirect_stdout(io.StringIO()):
        create_set(source, out, shards=1, only=None, workers=workers)


def _cpu_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system

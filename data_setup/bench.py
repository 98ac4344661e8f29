"""How fast sets are made, beside the same decoding, resampling and encoding with nothing around them.

Run ``python -m data_setup bench``. The bare rate is that of worker processes that only do what is done to
the pixels: decode, resample, encode, and decode the JPEG for its raw form; they hash and write nothing. The
written rate is that of the same processes when they also write these bytes to files, and nothing else: a
virtual machine may take longer for the memory of its page cache than for the bytes. The whole rate is that of
the command, the start of its workers included. Rounds of all take turns, so that whatever else the machine
does meets each; what one has left to the disk is written before the next begins.
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
from typing import NamedTuple

from data_setup.create import Source, encode, make_set, start_method
from data_setup.format import ENCODED, RAW, SetupError
from data_setup.sources import (
    PHOTOGRAPHS,
    CollectionSource,
    PhotoSource,
    list_images,
    opened,
    read_bytes,
    to_square,
)

Encoded = tuple[bytes, bytes]  # a JPEG file, and its pixels

TYPICAL = (500, 375)  # the commonest size of ImageNet's files
TYPICAL_QUALITY = 98  # 105 kB a file; those of ImageNet take 130 kB on average


def run(count: int, rounds: int, workers: int, scratch: Path | None) -> None:
    """Print both rates and their ratio, for ImageNet and for the photographs.

    Args:
        count: Images a round.
        rounds: How often each way is taken.
        workers: How many processes.
        scratch: Where sets are made; None is the temporary folder.
    """
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        tar = write_collection(Path(folder) / "collection.tar", count)
        source = CollectionSource(tar, tar.with_suffix(".txt"), count, seed=0)
        listing = list_images(tar)
        files = [read_bytes(tar, listing[number]) for number in range(len(PHOTOGRAPHS))]
        print(f"{count:,} images a round, {workers} workers, {rounds} rounds: median (from least to most)")
        compare("imagenet", source, BareFiles(files), workers, rounds, Path(folder))
        photos = PhotoSource(count, seed=0)
        compare("photos", photos, BarePhotos(photos), workers, rounds, Path(folder))


def write_collection(path: Path, count: int) -> Path:
    """Write a tar like ImageNet's validation set, and labels beside it.

    Args:
        path: The tar.
        count: How many images.
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
    opened(label).resize(TYPICAL).save(buffer, "JPEG", quality=TYPICAL_QUALITY)
    return buffer.getvalue()


class BareFiles:
    """Decode, resample and encode files that are in memory.

    Args:
        files: They take turns.
    """

    def __init__(self, files: Sequence[bytes]) -> None:
        self._files = files

    def __call__(self, number: int) -> Encoded:
        """Do it once."""
        return encode(to_square(self._files[number % len(self._files)], "x.JPEG").image)


class BarePhotos:
    """Cut out, resample and encode photographs, each of which is decoded once a process.

    Args:
        source: Says which.
    """

    def __init__(self, source: PhotoSource) -> None:
        self._source = source

    def __call__(self, number: int) -> Encoded:
        """Do it once."""
        return encode(self._source.render(number).image)


class Written:
    """Bare work whose bytes go to files: each JPEG to its own, and those of both kinds one behind the other.

    Args:
        bare: The work.
        folder: Where the files are.
    """

    def __init__(self, bare: BareFiles | BarePhotos, folder: Path) -> None:
        self._bare, self._folder, self._files = bare, folder, {}

    def __call__(self, number: int) -> None:
        """Do it once."""
        jpeg, pixels = self._bare(number)
        (self._folder / f"{number}.JPEG").write_bytes(jpeg)
        self._append(ENCODED, jpeg)
        self._append(RAW, pixels)

    def _append(self, kind: str, data: bytes) -> None:
        if kind not in self._files:
            self._files[kind] = (self._folder / f"{kind}{os.getpid()}").open("xb", buffering=0)
        self._files[kind].write(data)


Bare = BareFiles | BarePhotos | Written


class Round(NamedTuple):
    """What making the images once has cost.

    Args:
        wall: Seconds on the clock.
        cpu: Seconds of all processors, which other people's jobs hardly change.
    """

    wall: float
    cpu: float


def compare(name: str, source: Source, bare: Bare, workers: int, rounds: int, scratch: Path) -> None:
    """Print the rates of all ways, in rounds that take turns, and the ratios of each round."""
    ways = {"bare": [], "written": [], "whole": []}
    for number in range(rounds):
        out = scratch / f"{name}{number}"
        ways["bare"].append(bare_round(bare, source.count, workers))
        ways["written"].append(written_round(bare, source.count, out.with_suffix(".written"), workers))
        os.sync()
        ways["whole"].append(whole_round(source, out, workers))
        os.sync()
    for way, column in ways.items():
        print(f"{name:<9} {way:<14}{_spread([source.count / one.wall for one in column], ',.0f')} images/s")
    for way in ("bare", "written"):
        pairs = list(zip(ways[way], ways["whole"], strict=True))
        by_wall = _spread([one.wall / whole.wall for one, whole in pairs])
        by_cpu = _spread([one.cpu / whole.cpu for one, whole in pairs])
        print(f"{name:<9} {f'to {way}':<14}{by_wall}; by CPU time {by_cpu}")


def _spread(values: Sequence[float], form: str = ".2f") -> str:
    return f"{statistics.median(values):{form}} (from {min(values):{form}} to {max(values):{form}})"


def bare_round(bare: Bare, count: int, workers: int) -> Round:
    """Do the pixel work of so many images in processes that have started and wait for it."""
    with ProcessPoolExecutor(workers, get_context(start_method())) as pool:
        list(pool.map(time.sleep, [0.1] * workers))
        start = time.perf_counter()
        shares = [range(worker, count, workers) for worker in range(workers)]
        cpu = sum(pool.map(_repeat, [bare] * workers, shares))
        return Round(time.perf_counter() - start, cpu)


def written_round(bare: BareFiles | BarePhotos, count: int, folder: Path, workers: int) -> Round:
    """Do the same, write the bytes to a new folder, and remove the big files of it."""
    folder.mkdir()
    made = bare_round(Written(bare, folder), count, workers)
    for kind in (ENCODED, RAW):
        for path in folder.glob(f"{kind}*"):
            path.unlink()
    return made


def _repeat(bare: Bare, numbers: range) -> float:
    start = time.process_time()
    for number in numbers:
        bare(number)
    return time.process_time() - start


def whole_round(source: Source, out: Path, workers: int) -> Round:
    """Make a set in a process of its own, as the command does, and remove its archives.

    The single files stay until the last round: ext4 looks long for an inode that was not in use a moment ago,
    and would make each new file 30 times as slowly.
    """
    process = get_context(start_method()).Process(target=_make_quietly, args=(source, out, workers))
    start, cpu = time.perf_counter(), _cpu_seconds()
    process.start()
    process.join()
    made = Round(time.perf_counter() - start, _cpu_seconds() - cpu)
    if process.exitcode:
        raise SetupError(f"the set in {out} was not made; what stands above says why")
    for form in (ENCODED, RAW):
        shutil.rmtree(out / form)
    return made


def _make_quietly(source: Source, out: Path, workers: int) -> None:
    with redirect_stdout(io.StringIO()):
        make_set(source, out, shards=1, only=None, workers=workers)


def _cpu_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system

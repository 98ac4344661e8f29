"""Measure the file system below the course's data: files against packs, and operations per second.

Nothing is written. Each round reads images that no round before it has read, as long as the set has any.
"""

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from course_utils.data import JpegDataset, ZIPDataset
from course_utils.record.counted import Task, rates
from course_utils.record.schema import PROCESSES, Settings
from course_utils.record.store import RecordError
from course_utils.storage import page_cache

FILES, ENCODED, RAW = "disk_transformed", "zip_encoded", "zip"


class FileSystem:
    """The data set of this machine.

    Args:
        folder: The data, in all three forms.
        settings: How much of it is read.
        clock: Returns seconds.
    """

    def __init__(
        self, folder: Path, settings: Settings, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.settings, self._clock = settings, clock
        self._files = folder / FILES
        self._packs = {name: _first(folder / form, "*.zip") for name, form in _ZIPS.items()}
        self._names = JpegDataset(self._files).names
        self._order = random.Random(0).sample(range(len(self._names)), len(self._names))

    def epochs(self, number: int) -> dict[str, float]:
        """Return the seconds of an image of each form, decoded, read for the first time and again."""
        files, packed = self._slice(number, 0), self._order[: self.settings.packed]
        makers: dict[str, Callable[[], Any]] = {
            "JPEG files": lambda: JpegDataset(self._files),
            "JPEG in a zip": lambda: ZIPDataset(self._packs["JPEG in a zip"], load_encoded=True),
            "raw in a zip": lambda: ZIPDataset(self._packs["raw in a zip"]),
        }
        values = {}
        for name, make in makers.items():
            chosen = packed if name in self._packs else files
            page_cache.evict(self._packs.get(name) or self._paths(files))
            dataset = make()
            for state in ("first", "again"):
                start = self._clock()
                for index in chosen:
                    dataset[index % len(dataset)]
                values[f"{name}, {state}"] = (self._clock() - start) / len(chosen)
        return values

    def operations(self, number: int) -> dict[str, float]:
        """Return the operations per second of one process and of several."""
        values = {}
        pack, seconds = str(self._packs["raw in a zip"]), self.settings.seconds
        everything = self._paths(self._order)
        for place, processes in enumerate(PROCESSES, start=1):
            new = self._paths(self._slice(number, place))
            page_cache.evict([*new, pack])
            tasks = [
                Task("first read of a file", new, 0),
                Task("read from a pack", [pack] * processes, seconds),
                Task("open", everything, seconds),
                Task("stat", everything, seconds),
            ]
            for task, found in zip(tasks, rates(tasks, processes), strict=True):
                values[f"{task.operation}, {processes}"] = found
        return values

    def images(self) -> list[bytes]:
        """Return the bytes of some JPEG files, to decode."""
        return [Path(path).read_bytes() for path in self._paths(self._slice(0, 0))]

    def _slice(self, number: int, place: int) -> list[int]:
        """Return the images of a round and a place in it: three slices a round, no image in two of them."""
        slices, images = 1 + len(PROCESSES), self.settings.images
        first = (number * slices + place) * images
        return [self._order[index % len(self._order)] for index in range(first, first + images)]

    def _paths(self, chosen: Sequence[int]) -> list[str]:
        return [str(self._files / self._names[index]) for index in chosen]


_ZIPS = {"JPEG in a zip": ENCODED, "raw in a zip": RAW}
_FORMS = ((FILES, "*.JPEG"), (ENCODED, "*.zip"), (RAW, "*.zip"))


def images_of_a_slice(images: int, rounds: int, most: int = 200) -> int:
    """Return how many images a slice may have, so that no round reads those of another."""
    return max(min(images // (rounds * (1 + len(PROCESSES))), most), max(PROCESSES))


def _first(folder: Path, pattern: str) -> Path:
    found = min(folder.glob(pattern), default=None)
    if found is None:
        raise RecordError(f"{folder} holds no {pattern}: see `python -m data_setup verify`")
    return found


def cache_state(folder: Path) -> str:
    """Return what "first" means in this record."""
    samples = [_first(folder / form, pattern) for form, pattern in _FORMS]
    reason = page_cache.why_not_measurable(samples)
    return f"read for the first time, not evicted: {reason}" if reason else "evicted from the page cache"

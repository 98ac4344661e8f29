"""What a slice of a long array costs, kept in one piece or as the samples of a packed format."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from course_utils.formats import RandomAccess
from course_utils.system import io_counters


class Slices(Protocol):
    """What can be asked for a slice."""

    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Return the values from `start` to before `stop`."""


class JoinedSamples:
    """An array whose pieces are the samples of a packed format; a slice joins those that it touches.

    Args:
        reader: Its samples hold unsigned 16-bit integers.
        starts: Where each of them starts in the array; one more entry says where the last one ends.
    """

    def __init__(self, reader: RandomAccess, starts: NDArray[np.int64]) -> None:
        self._reader, self._starts = reader, starts

    def read(self, start: int, stop: int) -> NDArray[np.uint16]:
        """Return the values from `start` to before `stop`."""
        first = int(np.searchsorted(self._starts, start, "right")) - 1
        last = int(np.searchsorted(self._starts, stop, "left"))
        data = b"".join(self._reader.read(number).data for number in range(first, last))
        skipped = start - int(self._starts[first])
        return np.frombuffer(data, "<u2")[skipped : skipped + stop - start]

    def close(self) -> None:
        """Close the reader."""
        self._reader.close()


@dataclass(frozen=True)
class SliceCosts:
    """What one slice costs.

    Attributes:
        seconds: The median of the slices in each round, and of these in all rounds.
        times: How many times as long as with the first reader: the lowest ratio of all rounds, their median,
            and the highest.
        calls: Mean number of system calls that read, those of C libraries included; None where the system
            does not tell.
        read_bytes: Mean number of bytes that these returned. Memory maps read without a call, and so do
            readers where they kept what they read before: HDF5 keeps 64 KiB.
    """

    seconds: float
    times: tuple[float, float, float]
    calls: float | None
    read_bytes: float | None


def slice_costs(
    readers: Mapping[str, Slices], slices: Sequence[tuple[int, int]], rounds: int = 7
) -> dict[str, SliceCosts]:
    """Read the same slices with each reader in turns, so that load spikes affect all.

    A slice has been read when its values are 64-bit integers in memory, as a model takes them.

    Args:
        readers: Those to compare, by name; the times are those of the first.
        slices: Start and end of each.
        rounds: How often all are read, after a first round that counts the calls.

    Raises:
        ValueError: There is no reader, no slice or no round.
    """
    if not readers or not slices or rounds < 1:
        raise ValueError("give at least one reader, one slice and one round")
    counts = {name: _counted(reader, slices) for name, reader in readers.items()}
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for _ in range(rounds):
        for name, reader in readers.items():
            seconds[name].append(median(_timed(reader, *one) for one in slices))
    first = next(iter(seconds.values()))
    return {
        name: SliceCosts(median(found), _ratios(found, first), *counts[name])
        for name, found in seconds.items()
    }


def _ratios(found: list[float], first: list[float]) -> tuple[float, float, float]:
    ratios = [one / other for one, other in zip(found, first, strict=True)]
    return min(ratios), median(ratios), max(ratios)


def _timed(reader: Slices, start: int, stop: int) -> float:
    begin = time.perf_counter()
    reader.read(start, stop).astype(np.int64)
    return time.perf_counter() - begin


def _counted(reader: Slices, slices: Sequence[tuple[int, int]]) -> tuple[float | None, float | None]:
    """Return the calls and bytes of a slice, less those of looking at the counters."""
    looked, before = io_counters(), io_counters()
    for start, stop in slices:
        reader.read(start, stop)
    after = io_counters()
    if not (looked and before and after):
        return None, None
    calls, size = (
        (after[name] - before[name] - (before[name] - looked[name])) / len(slices)
        for name in ("syscr", "rchar")
    )
    return calls, size

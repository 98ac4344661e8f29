"""Draw an object of a store: the samples in it, the requests that fetch them, and how some of these fail."""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

Range = tuple[int, int]  # start and stop, or start and length
Failure = Literal["busy", "short"]
BUSY: Failure = "busy"
ALWAYS = 1_000  # failures of a request that never succeeds

# The scripts of the requests that fail at first. None fails more than four times: whether a short body counts
# as a failure, and whether it ends a row of failures, makes no difference.
SCRIPTS: tuple[tuple[Failure, ...], ...] = (
    ("short", "short"),
    ("busy", "busy"),
    ("short",),
    ("busy", "busy", "short", "busy"),
)


class DrawnObject(NamedTuple):
    """An object of a store, and what is to be fetched of it.

    Args:
        content: Its bytes.
        gap: The largest gap that one request may span.
        most: Requests that may be in flight at a time.
        ranges: Start and length of each sample, in the order asked for.
        runs: Start and stop of each request that a right answer makes, sorted.
        failures: How each of these fails at first.
        cut: The share of what is asked for that a short body holds.
    """

    content: bytes
    gap: int
    most: int
    ranges: list[Range]
    runs: list[Range]
    failures: list[tuple[Failure, ...]]
    cut: float


def draw_object(rng: np.random.Generator, gap: int, most: int, count: int) -> DrawnObject:
    """Draw an object with `count` runs of samples: at least one of each kind if there are six.

    Within a run, samples overlap, touch or lie nearer than `gap`; between runs lies more than that.
    """
    samples, pair, runs, at = list[Range](), list[Range](), list[Range](), int(rng.integers(1, gap))
    wide = int(rng.integers(count - 1))
    for place, k in enumerate(rng.permutation(count)):
        members = [(at + start, length) for start, length in KINDS[k % len(KINDS)](rng, gap)]
        if KINDS[k % len(KINDS)] is _touching and not pair:
            pair = members
        else:
            samples += members
        runs.append((at, max(map(sum, members))))
        at = runs[-1][1] + int(rng.integers(gap + 1, gap * 7 // 5)) + 2 * gap * (place == wide)
    samples.append(samples[int(rng.integers(len(samples)))])  # asked for twice
    ranges = [samples[k] for k in rng.permutation(len(samples))]
    first = int(rng.integers(len(ranges)))
    ranges[first:first] = pair  # one after the other: merging what follows each other is not enough
    failures: list[tuple[Failure, ...]] = [()] * count
    for k, script in zip(_long_ones(rng, runs), SCRIPTS, strict=False):
        failures[k] = script
    return DrawnObject(rng.bytes(at), gap, most, ranges, runs, failures, float(rng.uniform(0.4, 0.6)))


def never_answered(rng: np.random.Generator, drawn: DrawnObject) -> DrawnObject:
    """Return another object with samples at the same places; one request is always answered with 503."""
    failures: list[tuple[Failure, ...]] = [()] * len(drawn.runs)
    failures[int(rng.integers(len(failures)))] = (BUSY,) * ALWAYS
    return drawn._replace(content=rng.bytes(len(drawn.content)), failures=failures)


def _long_ones(rng: np.random.Generator, runs: list[Range]) -> list[int]:
    """Return the numbers of the longer half of the runs in random order, the longest first."""
    by_length = sorted(range(len(runs)), key=lambda k: runs[k][0] - runs[k][1])
    return [by_length[0], *rng.permutation(by_length[1 : len(runs) // 2 + 1]).tolist()]


def _length(rng: np.random.Generator, gap: int) -> int:
    return int(rng.integers(gap // 3, gap // 2))


def _near(rng: np.random.Generator, gap: int) -> int:
    return int(rng.integers(gap * 4 // 5, gap))


def _single(rng: np.random.Generator, gap: int) -> list[Range]:
    return [(0, _length(rng, gap))]


def _chain(rng: np.random.Generator, gap: int) -> list[Range]:
    length = _length(rng, gap)
    first, second = (length + _near(rng, gap) for _ in range(2))
    return [(start, length) for start in (0, first, first + second)]


def _pair(rng: np.random.Generator, gap: int) -> list[Range]:
    first = _length(rng, gap)
    return [(0, first), (first + _near(rng, gap), _length(rng, gap))]


def _touching(rng: np.random.Generator, gap: int) -> list[Range]:
    first = _length(rng, gap)
    return [(0, first), (first, _length(rng, gap))]


def _overlapping(rng: np.random.Generator, gap: int) -> list[Range]:
    first = _length(rng, gap)
    return [(0, first), (first - int(rng.integers(1, gap // 3)), _length(rng, gap))]


def _nested(rng: np.random.Generator, gap: int) -> list[Range]:
    """Samples inside a long one; the next one is near to the end of the long one only."""
    outer = gap // 2 + _length(rng, gap)
    inner = [(0, gap // 4), (gap // 8, gap // 6)]
    return [(0, outer), *inner, (outer + _near(rng, gap), _length(rng, gap))]


KINDS: tuple[Callable[[np.random.Generator, int], list[Range]], ...] = (
    _single, _chain, _pair, _touching, _overlapping, _nested,
)  # fmt: skip

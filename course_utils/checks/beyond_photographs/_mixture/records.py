"""What is read from mixtures, as plain data."""

import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import type_name

LONG = 2400  # samples of a stream: many orders of the small sources, and less than one of the largest
SHORT = 300
NOT_A_NUMBER = -(2**40)  # stands for what is not a number


class Mix(TypedDict):
    """The arguments of a mixture."""

    sizes: list[int]
    weights: list[float]
    seed: int


class Read(TypedDict):
    """What was read from a stream.

    Args:
        problem: What is wrong with its form, for a sentence; otherwise empty.
        pairs: Source and number of each sample, int64, (samples, 2).
    """

    problem: str
    pairs: np.ndarray


def draw_mix(rng: np.random.Generator, sources: int) -> Mix:
    """Draw a mixture in which the smallest sources have large shares, and the largest one a small share.

    Args:
        rng: What draws.
        sources: 3 or 4; the fourth has few samples, but one for each rank.
    """
    sizes = [int(rng.integers(42, 56)), int(rng.integers(150, 190)), int(rng.integers(3000, 3400))]
    weights = [[0.5, 0.3, 0.2], [0.55, 0.3, 0.15]] if sources == 3 else [[0.45, 0.25, 0.1, 0.2]]
    if sources == 4:
        sizes.insert(2, int(rng.integers(6, 9)))
    drawn: list[float] = weights[int(rng.integers(len(weights)))]
    return {"sizes": sizes, "weights": drawn, "seed": int(rng.integers(1, 2**20))}


def build(mixture: Callable[..., Any], mix: Mix) -> Any:  # noqa: ANN401 - whatever the student wrote
    """Return a new mixture; its lists are its own."""
    return mixture(list(mix["sizes"]), list(mix["weights"]), mix["seed"])


def read_stream(mixture: Callable[..., Any], mix: Mix, count: int) -> Read:
    """Read the first samples of a new mixture on one rank."""
    return read(build(mixture, mix).samples(0, 1), count)


def read_in_turns(mixture: Callable[..., Any], mixes: Sequence[Mix], count: int) -> list[Read]:
    """Read the streams of new mixtures at the same time, a sample of each in turn."""
    streams = [build(mixture, mix).samples(0, 1) for mix in mixes]
    if not all(isinstance(stream, Iterable) for stream in streams):
        return [read(stream, count) for stream in streams]
    rows = list(islice(zip(*streams, strict=False), count))
    return [read([row[place] for row in rows], count) for place in range(len(mixes))]


def read(samples: object, count: int) -> Read:
    """Read samples from what `samples` returned."""
    none = np.empty((0, 2), np.int64)
    if not isinstance(samples, Iterable):
        return {"problem": f"returns an object of type {type_name(samples)}", "pairs": none}
    pairs = []
    for sample in islice(samples, count):
        if not isinstance(sample, tuple | list) or len(sample) != 2:
            kind = f"an object of type {type_name(sample)}"
            return {"problem": f"yields {kind}", "pairs": none}
        pairs.append([_number(part) for part in sample])
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return {"problem": "", "pairs": found}


def starts_over(mix: Mix, found: Read) -> bool:
    """Return whether the first source gives more than all its samples.

    If not, there may be a stream that yields nothing once all sources are at their ends: nobody reads on.
    """
    return int((found["pairs"][:, 0] == 0).sum()) > mix["sizes"][0]


def _number(part: object) -> int:
    try:
        number = operator.index(part)  # type: ignore[arg-type]  # whatever the student yields
    except TypeError:
        return NOT_A_NUMBER
    return number if abs(number) < 2**40 else NOT_A_NUMBER

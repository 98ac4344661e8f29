"""How large a shuffle buffer must be for a wanted mixing of data that is stored in class order."""

import math
from collections.abc import Callable
from typing import TypedDict

import numpy as np

from course_utils.checks.core import Mistake

OFFSETS = 8  # places of the batch between two borders of classes, over which the mean is taken
LONGEST = 12  # times the buffer's size: hardly any sample waits longer
TOLERANCE = 0.2


class Wanted(TypedDict):
    """A wanted mixing, the arguments of `buffer_size`."""

    classes: int
    batch_size: int
    images_per_class: int


def draw_mixing(rng: np.random.Generator, batch_size: int) -> Wanted:
    """Draw a mixing that takes a buffer of 3 to 7 classes and of at least three batches."""
    images = int(rng.integers(batch_size, 2 * batch_size))
    classes = round(classes_in_batch(rng.uniform(3, 7) * images, batch_size, images))
    return {"classes": classes, "batch_size": batch_size, "images_per_class": images}


def expect_sizes(mixings: list[Wanted], found: list[int | str]) -> None:
    """Compare sizes with those that give the wanted mixings.

    Raises:
        Mistake: One differs by more than the tolerance; the message says why where all of them show it.
    """
    for size in found:
        if isinstance(size, str) or size < 1:
            raise Mistake("not_a_size", f"buffer_size returned {size}; return an int of 1 or more.")
    sizes = [int(size) for size in found]
    wrong = [n for n, mixing in enumerate(mixings) if not _near(sizes[n], right_size(mixing))]
    if not wrong:
        return
    for name, rule, message in KNOWN_MISTAKES:
        if all(_near(size, rule(mixing)) for size, mixing in zip(sizes, mixings, strict=True)):
            raise Mistake(name, message)
    size, mixing = sizes[wrong[0]], mixings[wrong[0]]
    arguments = ", ".join(f"{name}={value}" for name, value in mixing.items())
    given = classes_in_batch(max(size, 2), mixing["batch_size"], mixing["images_per_class"])
    raise Mistake(
        "other_size",
        f"buffer_size({arguments}) returned {size}. Through a buffer of that size, a batch holds "
        f"{given:.1f} distinct classes on average, not {mixing['classes']}. Simulate it: number the samples, "
        "send them through your buffer, and count the classes in batches from the middle of the stream.",
    )


def _near(size: float, other: float) -> bool:
    return abs(size - other) <= max(TOLERANCE * other, 1)


def right_size(mixing: Wanted) -> float:
    """Return the buffer size that gives a wanted mixing."""
    return _size_for(classes_in_batch, mixing)


def _size_for(mean: Callable[[float, int, int], float], mixing: Wanted) -> float:
    classes, batch_size, images = mixing["classes"], mixing["batch_size"], mixing["images_per_class"]
    return smallest_size(lambda size: mean(size, batch_size, images), classes)


def classes_in_batch(size: float, batch_size: int, images_per_class: int) -> float:
    """Return the mean number of distinct classes in a batch, far from the start and the end of the stream.

    In each step, any of the `size` samples leaves the buffer with the same probability; so a sample that was
    read `a` steps before the batch began leaves during the batch with probability q^a (1 - q^batch_size),
    where q = 1 - 1/size. The samples are taken for independent of each other; against a simulation the
    result is right to 2 percent from a buffer of two batches on.

    Args:
        size: Number of samples in the buffer.
        batch_size: Number of samples in a batch.
        images_per_class: Number of samples of each class; a class is followed by the next one.
    """
    stay = math.log1p(-1 / size)
    ages = np.arange(-batch_size + 1, math.ceil(LONGEST * size))
    steps = np.minimum(batch_size, batch_size + ages)  # fewer for a sample that enters during the batch
    leaves = -np.expm1(stay * steps) * np.exp(stay * np.maximum(ages, 0))
    stays = np.log1p(-np.minimum(leaves, 1 - 1e-12))  # a small buffer gives 1 after rounding
    means = []
    for offset in np.linspace(0, images_per_class, OFFSETS, endpoint=False).astype(int).tolist():
        borders = np.arange(offset, len(ages), images_per_class)
        starts = borders if offset == 0 else np.array([0, *borders.tolist()])
        means.append(-np.expm1(np.add.reduceat(stays, starts)).sum())
    return float(np.mean(means))


def classes_in_first_batch(size: float, batch_size: int, images_per_class: int) -> float:
    """Return the mean for a buffer that holds just the last `size` samples, as the first batches see it."""
    classes = size / images_per_class
    return classes * -math.expm1(batch_size * math.log1p(-1 / classes)) if classes > 1 else 1.0


def smallest_size(mixing: Callable[[float], float], wanted: float) -> float:
    """Return the buffer size from which on an increasing function of it is at least `wanted`."""
    low, high = 2.0, 4.0
    while mixing(high) < wanted:
        low, high = high, 2 * high
    while high - low > 1e-3 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if mixing(middle) < wanted else (low, middle)
    return high


_WINDOW = (
    "Your size would be right if the buffer held just the last `size` samples of the stream. That is so when "
    "it has just been filled, or if it is emptied before it is filled again. Later, some samples in it have "
    "waited much longer, so it mixes more classes: count in batches from the middle of a long stream."
)
_IN_CLASSES = (
    "You return a number of classes. A size is counted in samples: there are images_per_class of each."
)
# Name, what it would return, message.
KNOWN_MISTAKES: tuple[tuple[str, Callable[[Wanted], float], str], ...] = (
    ("only_the_last_samples", lambda mixing: mixing["classes"] * mixing["images_per_class"], _WINDOW),
    ("only_the_last_samples", lambda mixing: _size_for(classes_in_first_batch, mixing), _WINDOW),
    ("counted_in_classes", lambda mixing: right_size(mixing) / mixing["images_per_class"], _IN_CLASSES),
)

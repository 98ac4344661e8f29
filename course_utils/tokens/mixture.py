"""Mixtures of sources whose sizes differ: the shares that they get, and those that a stream has."""

from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from course_utils.figures import SERIES


def tempered_weights(sizes: Sequence[int], temperature: float) -> list[float]:
    """Return shares of sources that favour small ones the more, the higher the temperature is.

    Each share is proportional to the size to the power of 1 / temperature: multilingual BERT (Devlin et al.,
    2018) used an exponent of 0.7, XLM-R (Conneau et al., 2020) one of 0.3.

    Args:
        sizes: Samples, or tokens, of each source.
        temperature: 1 for shares by size; `math.inf` for equal ones.

    Returns:
        The shares, which add up to 1.

    Raises:
        ValueError: The temperature is not above 0, or a source is empty.
    """
    if temperature <= 0 or min(sizes) <= 0:
        raise ValueError("the temperature and each size must be above 0")
    logs = np.log(np.asarray(sizes, float)) / temperature
    powers = np.exp(logs - logs.max())  # the largest is 1, however low the temperature is
    shares: list[float] = (powers / powers.sum()).tolist()
    return shares


def shares(sources: Iterable[int], window: int, count: int) -> NDArray[np.float64]:
    """Return the share of each source in each window of a stream.

    Args:
        sources: The source of each sample, from 0 to `count` - 1.
        window: Samples a window; a shorter rest of the stream is left out.
        count: Number of sources.

    Returns:
        Shares from 0 to 1, float64, (windows, count).
    """
    numbers = np.fromiter(sources, np.int64)
    windows = numbers[: len(numbers) // window * window].reshape(-1, window)
    return np.stack([(windows == source).mean(axis=1) for source in range(count)], axis=1)


def plot_shares(
    found: NDArray[np.float64],
    window: int,
    names: Sequence[str],
    weights: Sequence[float],
    ax: Axes | None = None,
) -> Axes:
    """Plot the shares of sources along a stream, and as dashed lines what they should be.

    Args:
        found: Result of `shares`, (windows, sources).
        window: Samples a window.
        names: Of the sources.
        weights: Their wanted shares, from 0 to 1.
        ax: Axes to draw on; by default those of a new figure.
    """
    ax = ax or plt.subplots(figsize=(8, 3.2), layout="constrained")[1]
    places = (np.arange(len(found)) + 0.5) * window
    for source, (name, weight) in enumerate(zip(names, weights, strict=True)):
        colour = SERIES[source % len(SERIES)]
        ax.plot(places, found[:, source], color=colour, marker=".", label=name)
        ax.axhline(weight, color=colour, linestyle="--", linewidth=1)
    ax.set_xlabel(f"samples of the stream, in windows of {window:,}")
    ax.set_ylabel("share of the samples")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.legend(frameon=False, ncols=len(names), loc="upper center", bbox_to_anchor=(0.5, 1.2))
    return ax

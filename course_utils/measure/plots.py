"""Plots of measured times: the epochs of a result, several results cold and warm, and single steps."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from course_utils.figures import BLUE, INK, ORANGE
from course_utils.measure.results import BenchmarkResult, Summary

__all__ = ["plot_cold_and_warm", "plot_epochs", "plot_pairs", "plot_steps"]

COLD, WARM = BLUE, ORANGE


def plot_epochs(result: BenchmarkResult, ax: Axes | None = None) -> Axes:
    """Plot the seconds of each epoch, first epochs in another colour, and the wait for its first batch.

    Args:
        result: a result of `course_utils.measure.benchmark`.
        ax: axes to draw on; by default those of a new figure.
    """
    ax = ax or plt.subplots(figsize=(6, 2.5), layout="constrained")[1]
    places = range(len(result.epochs))
    ax.bar(places, result.epoch_seconds, color=[WARM if epoch.number else COLD for epoch in result.epochs])
    waits = [epoch.first_batch_seconds for epoch in result.epochs]
    ax.bar(places, waits, color=INK, width=0.2, label="until the first batch")
    ax.set_xticks(places, [f"epoch {epoch.number}" for epoch in result.epochs])
    ax.set_ylabel("seconds")
    ax.set_ylim(top=1.3 * max(result.epoch_seconds))  # room for the legend
    ax.legend()
    return ax


def plot_cold_and_warm(results: Sequence[BenchmarkResult], ax: Axes | None = None) -> Axes:
    """Plot first and later epochs of several results side by side: medians, and lines from min to max.

    Args:
        results: results of benchmarks that started cold.
        ax: axes to draw on; by default those of a new figure.

    Raises:
        ValueError: A result has no first epoch: its benchmark started warm.
    """
    if warm := [result.label for result in results if result.first is None]:
        raise ValueError(f"{warm[0]} was measured with warm_start=True, and has no first epoch")
    ax = ax or plt.subplots(figsize=(7, 3.6), layout="constrained")[1]
    first = [result.first for result in results if result.first is not None]
    _bars(ax, first, -0.2, COLD, "cold cache")
    _bars(ax, [result.seconds for result in results], 0.2, WARM, "warm cache")
    ax.set_xticks(range(len(results)), [result.label for result in results])
    ax.set_ylabel("seconds for an epoch")
    ax.legend()
    return ax


def plot_steps(costs: Mapping[str, np.ndarray], ax: Axes | None = None) -> Axes:
    """Plot what steps cost as horizontal bars.

    Args:
        costs: by the name of a step, the lower quartile, the median and the upper quartile in µs.
        ax: axes to draw on; by default those of a new figure.
    """
    ax = ax or plt.subplots(figsize=(7, 0.8 + 0.35 * len(costs)), layout="constrained")[1]
    low, middle, high = np.array(list(costs.values())).T
    ax.barh(list(costs), middle, xerr=[middle - low, high - middle], color=BLUE, ecolor=INK)
    ax.invert_yaxis()
    ax.set_xlabel("time for one image, one core, warm cache (µs)")
    return ax


def _bars(ax: Axes, stats: Sequence[Summary], shift: float, colour: str, label: str) -> None:
    middle = np.array([stat.median for stat in stats])
    spread = [middle - [stat.low for stat in stats], [stat.high for stat in stats] - middle]
    places = np.arange(len(stats)) + shift
    ax.bar(places, middle, width=0.4, yerr=spread, color=colour, ecolor=INK, label=label, capsize=3)


def plot_pairs(
    pairs: Mapping[str, tuple[float, float]], labels: tuple[str, str], unit: str, ax: Axes | None = None
) -> Axes:
    """Plot two positive numbers for each of several things as joined points on a logarithmic axis.

    Args:
        pairs: The two numbers by name; drawn from top to bottom.
        labels: What the first and the second number are.
        unit: Label of the axis.
        ax: axes to draw on; by default those of a new figure.
    """
    ax = ax or plt.subplots(figsize=(7, 1.4 + 0.3 * len(pairs)), layout="constrained")[1]
    first, second = np.array(list(pairs.values())).T
    ax.hlines(list(pairs), first, second, color=INK, zorder=1)
    ax.scatter(first, list(pairs), color=COLD, label=labels[0])
    ax.scatter(second, list(pairs), color=WARM, label=labels[1])
    ax.set_xscale("log")
    ticks = [tick for tick in (0.5, 1, 2, 5, 10, 20, 50, 100) if tick <= 2 * max(first.max(), second.max())]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.invert_yaxis()
    ax.set_xlabel(unit)
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False)
    return ax

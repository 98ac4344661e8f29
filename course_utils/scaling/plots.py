"""Plots of the model over the number of nodes."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle

from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from course_utils.figures import INK, SERIES
from course_utils.scaling.parallel_fs import ParallelFilesystem
from course_utils.scaling.training_time import NODES, Point, useful_nodes

__all__ = ["draw_scaling", "frame_scaling", "plot_scaling", "plot_ways"]

MARKERS = "os^DvpX"


def plot_ways(
    seconds: Mapping[str, Callable[[int], float]],
    label: str,
    nodes: Sequence[int] = NODES,
    ax: Axes | None = None,
    filesystem: ParallelFilesystem | None = None,
) -> Axes:
    """Plot the modelled seconds of several ways over the number of nodes.

    Args:
        seconds: By name, a function of the number of nodes.
        label: What takes these seconds, for the axis.
        filesystem: The file system of the model, whose assumptions the title names; the default one if None.
        nodes: Numbers of nodes.
        ax: Axes to draw on; by default those of a new figure.
    """
    ax = ax or plt.subplots(figsize=(8, 4), layout="constrained")[1]
    for (name, function), colour, marker in zip(seconds.items(), cycle(SERIES), cycle(MARKERS)):
        ax.plot(nodes, [function(number) for number in nodes], color=colour, marker=marker, ms=5, label=name)
    _node_axis(ax, nodes)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_ylabel(f"{label} (s)")
    assumptions = (filesystem or ParallelFilesystem()).assumptions
    _title(ax, "Model of a shared file system (not a measurement)", assumptions)
    _legend(ax)
    return ax


def plot_scaling(
    points: Mapping[str, Sequence[Point]],
    ax: Axes | None = None,
    filesystem: ParallelFilesystem | None = None,
) -> Axes:
    """Plot the throughput of trainings over the number of nodes, and where more nodes stop helping.

    Args:
        points: Results of `scale` by name, all for the same numbers of nodes.
        ax: Axes to draw on; by default those of a new figure.
        filesystem: The one of `scale`, whose assumptions the title names; the default one if None.
    """
    ax = ax or plt.subplots(figsize=(8, 4.4), layout="constrained")[1]
    assumptions = (filesystem or ParallelFilesystem()).assumptions
    frame_scaling(ax, [point.nodes for point in next(iter(points.values()))], assumptions)
    draw_scaling(points, ax)
    return ax


def frame_scaling(ax: Axes, nodes: Sequence[int] = NODES, assumptions: str = "") -> None:
    """Prepare axes for `draw_scaling`: scales, labels, and a title that names the model's assumptions."""
    _node_axis(ax, nodes)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylabel("images/s, with start and staging")
    _title(ax, "Model; a ring marks where twice the nodes gain less than 10 %", assumptions)


def draw_scaling(points: Mapping[str, Sequence[Point]], ax: Axes) -> None:
    """Draw the curves of `plot_scaling` on axes that `frame_scaling` prepared."""
    best = max((series[0] for series in points.values()), key=lambda point: point.images_per_second)
    nodes = [point.nodes for point in next(iter(points.values()))]
    perfect = [best.images_per_second * number / best.nodes for number in nodes]
    ax.plot(nodes, perfect, color=INK, linestyle=":", label="no limit but nodes")
    for (name, series), colour, marker in zip(points.items(), cycle(SERIES), cycle(MARKERS)):
        rates = [point.images_per_second for point in series]
        ax.plot(nodes, rates, color=colour, marker=marker, ms=5, label=name)
        last = useful_nodes(series)
        ax.plot(last.nodes, last.images_per_second, color=colour, marker=marker, ms=12, fillstyle="none")
    _legend(ax)


def _title(ax: Axes, text: str, assumptions: str) -> None:
    ax.set_title(f"{text}\n{assumptions}", loc="left", size=9)


def _node_axis(ax: Axes, nodes: Sequence[int]) -> None:
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(FixedLocator(nodes))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_xlabel("nodes")
    ax.spines[["top", "right"]].set_visible(False)


def _legend(ax: Axes) -> None:
    ax.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))

"""Sliders for the model of a shared file system."""

from collections.abc import Mapping
from dataclasses import replace

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from course_utils.figures import BLUE
from course_utils.sliders.panel import Drawing, Panel, Slider, named
from course_utils.storage import FileOps, SharedFilesystem

__all__ = ["shared_fs_sliders"]

SECONDS = (0.01, 2_000)
LABELS = 0.6  # inches below the bars


def shared_fs_sliders(operations: Mapping[str, FileOps], filesystem: SharedFilesystem | None = None) -> Panel:
    """Return sliders for the load, the users and the latencies, above the waiting times of an epoch.

    Args:
        operations: The operations of one epoch by label.
        filesystem: The parameters at the start; by default those of `SharedFilesystem`.
    """
    start = filesystem or SharedFilesystem()

    def draw(axes: Axes, load: int, users: int, open_ms: float, read_ms: float) -> str:
        system = replace(start, load=load / 100, open_ms=open_ms, read_ms=read_ms)
        waits = {name: system.seconds(counts) for name, counts in operations.items()}
        _bars(axes, waits)
        asked = {name: users * counts.operations for name, counts in operations.items()}
        return f"others take {load} % of the servers; an epoch waits, and {users:,} users ask for\n" + named(
            [(name, f"{waits[name]:7.1f} s, {asked[name]:>13,} operations") for name in operations]
        )

    sliders = {
        "load": Slider("taken by others (%)", round(100 * start.load), 0, 95),
        "users": Slider("users with this job", 500, 1, 1000),
        "open_ms": Slider("open (ms)", start.open_ms, 0.0, 5.0, 0.1),
        "read_ms": Slider("read (ms)", start.read_ms, 0.0, 5.0, 0.1),
    }
    height = LABELS + 0.35 * len(operations)
    return Panel(
        sliders,
        Drawing(
            draw,
            _frame,
            size=(7.0, height),
            axes=(0.33, LABELS / height, 0.64, 1 - (LABELS + 0.05) / height),
            alt="A bar for each form: the seconds that an epoch waits, on a logarithmic scale.",
        ),
    )


def _frame(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_xlim(SECONDS)
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.invert_yaxis()
    axes.set_xlabel("waiting for files in one epoch (s), by the model")
    axes.spines[["top", "right"]].set_visible(False)


def _bars(axes: Axes, waits: Mapping[str, float]) -> None:
    # A bar on a logarithmic scale begins at the left edge, whatever its length.
    lengths = [max(seconds - SECONDS[0], 0) for seconds in waits.values()]
    axes.barh(list(waits), lengths, left=SECONDS[0], color=BLUE)

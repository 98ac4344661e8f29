"""Gantt charts of runs: what each lane did when, and where the accelerator was idle."""

from collections.abc import Sequence
from dataclasses import replace

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from course_utils.figures import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY, YELLOW
from course_utils.pipeline.trace import STAGES, Run, Span

COLOURS = {
    "read": ORANGE,
    "decode": SKY,
    "load": SKY,
    "collate": BLUE,
    "pin": PURPLE,
    "wait": "#D0D0D0",
    "transfer": YELLOW,
    "compute": GREEN,
}
IDLE_COLOUR = RED
IDLE_ROW = "idle"
MAX_WORKER_LANES = 8
# Inches: what a notebook shows without scaling it down, and one chart alone.
FULL_WIDTH = 10.4
FULL_PIXELS = 1_000  # what is narrower than one of them is not seen
CHART_WIDTH = 7.0
LONGEST_TITLE = 62


def _title(run: Run, skip: int) -> str:
    speed = f"{1e3 * run.step_seconds(skip):.1f} ms a step"
    what, numbers = f"{run.name} ({run.source}):", f"{speed}, idle {100 * run.idle_fraction(skip):.0f} %"
    return f"{what} {numbers}" if len(f"{what} {numbers}") <= LONGEST_TITLE else f"{what}\n{numbers}"


def legend_patches(present: set[str]) -> list[Patch]:
    """Return one patch per colour of these stages, and one for idle time; a load and a decode share one."""
    labels: dict[str, list[str]] = {}
    for stage in STAGES:
        if stage in present:
            labels.setdefault(COLOURS[stage], []).append(stage)
    idle = Patch(facecolor="none", edgecolor=IDLE_COLOUR, hatch="////", label=IDLE_ROW)
    return [*(Patch(color=colour, label=" / ".join(stages)) for colour, stages in labels.items()), idle]


def draw_run(run: Run, axes: Axes, skip: int = 0, until: float | None = None) -> None:
    """Draw one run: a row per lane, a bar per span, red hatching where nothing is computed.

    The hatching is in the lane that computes, between its bars. Where this lane does other things as well,
    their bars would cover it, and it has a row of its own.

    Args:
        run: A modelled or recorded run.
        axes: Where to draw.
        skip: Steps to leave out of the chart and of the numbers in its title, because they fill the pipeline.
        until: Draw the first `until` seconds after them; all that follows if None.
    """
    start, end = run.window(skip)
    until = end - start if until is None else until
    rows = _rows(run)
    row = {name: len(rows) - 1 - number for number, name in enumerate(rows)}
    shown = [
        replace(span, start=span.start - start, end=span.end - start)
        for span in run.spans
        if span.lane in row and span.start < start + until and span.end > start
    ]
    _draw_spans(shown, axes, row, until)
    _draw_idle(run, axes, row.get(IDLE_ROW, row[_computing_lane(run)]), skip, until)
    axes.set_yticks(list(row.values()), list(row))
    label = f"time after step {skip} (ms)" if skip else "time (ms)"
    axes.set(xlim=(0, 1e3 * until), xlabel=label, ylim=(-0.6, len(rows) - 0.4))
    axes.set_title(_title(run, skip), size=10, loc="left")


def _computing_lane(run: Run) -> str:
    return run.stage("compute")[0].lane


def _rows(run: Run) -> list[str]:
    """Return the lanes to draw, and below them a row for idle time where its lane has no room for it."""
    computing = _computing_lane(run)
    is_free = {span.stage for span in run.spans if span.lane == computing} <= {"compute", "wait"}
    return _shown_lanes(run) if is_free else [*_shown_lanes(run), IDLE_ROW]


def _shown_lanes(run: Run) -> list[str]:
    """Return the lanes to draw; of many workers the first ones, and a line for the number of the others."""
    lanes = run.lanes()
    workers = [lane for lane in lanes if lane.startswith("worker")]
    hidden = len(workers) - MAX_WORKER_LANES
    if hidden <= 0:
        return lanes
    return [*workers[:MAX_WORKER_LANES], f"{hidden} more workers", *lanes[len(workers) :]]


def _draw_spans(spans: Sequence[Span], axes: Axes, row: dict[str, int], until: float) -> None:
    """Draw spans, all of one stage and lane as one artist: sliders redraw while they are moved."""
    bars: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for span in spans:
        start, end = max(span.start, 0), min(span.end, until)
        left, width = 1e3 * start, 1e3 * (end - start)
        bars.setdefault((span.lane, span.stage), []).append((left, width))
        number = str(span.batch)
        if span.stage == "compute" and width > 19 * until * len(number):
            middle = left + width / 2
            axes.text(middle, row[span.lane], number, ha="center", va="center", color="white", size=8)
    for (lane, stage), ranges in bars.items():
        height = 0.2 if stage == "wait" else 0.75
        place = row[lane] - height / 2, height
        axes.broken_barh(ranges, place, facecolors=COLOURS[stage], edgecolors=INK, linewidth=0.5)


def _draw_idle(run: Run, axes: Axes, row: int, skip: int, until: float) -> None:
    origin, _ = run.window(skip)
    for start, end in ((a - origin, b - origin) for a, b in run.idle(skip)):
        if start < until:
            width = 1e3 * (min(end, until) - start)
            axes.barh(row, width, 0.9, 1e3 * start, fc="none", ec=IDLE_COLOUR, hatch="////", lw=0, zorder=0)


def draw_runs(
    runs: Sequence[Run], skip: int = 0, milliseconds: float | None = None, columns: int = 2
) -> Figure:
    """Draw runs side by side on a common time scale, with one legend.

    Args:
        runs: Modelled and recorded runs, in any mix.
        skip: Steps to leave out of the charts and of the numbers in their titles.
        milliseconds: Length of the time axis; as long as the longest run if None.
        columns: Charts per row.

    Returns:
        The figure, not yet shown.
    """
    rows = -(-len(runs) // columns)
    heights = [max(len(_rows(r)) for r in runs[i : i + columns]) + 2 for i in range(0, len(runs), columns)]
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(min(CHART_WIDTH * columns, FULL_WIDTH), 0.33 * sum(heights) + 0.5),
        squeeze=False,
        layout="constrained",
        height_ratios=heights,
    )
    windows = [r.window(skip) for r in runs]
    until = max(end - start for start, end in windows) if milliseconds is None else milliseconds / 1e3
    for axes, run in zip(grid.flat, runs, strict=False):
        draw_run(run, axes, skip, until)
    for axes in grid.flat[len(runs) :]:
        axes.set_axis_off()
    visible = {s.stage for r in runs for s in r.spans if s.end - s.start > until / FULL_PIXELS}
    patches = legend_patches(visible)
    figure.legend(handles=patches, ncols=len(patches), loc="outside lower center", frameon=False)
    return figure

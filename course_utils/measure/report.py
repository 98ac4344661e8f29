"""Tables and plots of benchmark results and of file operations.

Example:
    >>> from course_utils.measure.report import operations_table
    >>> from course_utils.storage.io_counter import FileOps
    >>> operations_table({"JPEG files": FileOps(4000, 4000, 12000), "zip": FileOps(1, 1, 8000)})
    read through  opens  stats   reads  listings     MB  operations
    JPEG files    4,000  4,000  12,000         0    0.0      20,000
    zip               1      1   8,000         0    0.0       8,002
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from course_utils.measure.results import BenchmarkResult, Epoch, Stat
from course_utils.storage import FileOps

__all__ = ["Table", "benchmark_table", "operations_table", "plot_benchmarks", "plot_operations"]

BAR, WHISKER = "#4477aa", "#222222"
KIND_COLOURS = {"opens": "#ee6677", "stats": "#ccbb44", "reads": "#4477aa", "listings": "#aa3377"}


@dataclass(frozen=True)
class Table:
    """Rows of text under a header; a notebook shows it as HTML, a terminal as aligned columns.

    Args:
        header: names of the columns, with their units.
        rows: cells, each row as long as the header; the first column is aligned left, the others right.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __repr__(self) -> str:
        columns = list(zip(self.header, *self.rows, strict=True))
        widths = [max(map(len, column)) for column in columns]
        lines = []
        for row in (self.header, *self.rows):
            cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = _html_row(self.header, "th")
        body = "\n".join(_html_row(row, "td") for row in self.rows)
        return f"<table>\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def benchmark_table(results: Sequence[BenchmarkResult]) -> Table:
    """Put results side by side: median, smallest and largest of the typical epochs, and what the cache held.

    Args:
        results: as `course_utils.measure.loader_benchmark.benchmark` returns them.
    """
    header = (
        "what", "device", "workers", "images/s", "s per epoch (min to max)", "epochs", "cached before",
        "first epoch, s", "cached before it", "first batch, s", "MB delivered",
    )  # fmt: skip
    return Table(header, [_result_cells(result) for result in results])


def operations_table(operations: Mapping[str, FileOps]) -> Table:
    """Put counts of file operations side by side.

    Args:
        operations: label to counts.
    """
    header = ("read through", "opens", "stats", "reads", "listings", "MB", "operations")
    rows = [
        (label, f"{o.opens:,}", f"{o.stats:,}", f"{o.reads:,}", f"{o.listings:,}", f"{o.nbytes / 1e6:,.1f}",
         f"{o.operations:,}")
        for label, o in operations.items()
    ]  # fmt: skip
    return Table(header, rows)


def plot_benchmarks(results: Sequence[BenchmarkResult], title: str = "", ax: Axes | None = None) -> Axes:
    """Draw images per second as bars, with whiskers from the slowest to the fastest epoch.

    Args:
        results: as `course_utils.measure.loader_benchmark.benchmark` returns them; the first one is drawn on top.
        title: what is compared.
        ax: where to draw; by default a new figure.
    """
    ax = ax or _new_axes(len(results))
    rates = [result.rate for result in results]
    positions = range(len(results))
    ax.barh(positions, [rate.median for rate in rates], color=BAR, height=0.6)
    ax.errorbar(
        [rate.median for rate in rates], positions, xerr=_whiskers(rates),
        fmt="none", ecolor=WHISKER, capsize=4, linewidth=1.2,
    )  # fmt: skip
    for position, rate in zip(positions, rates, strict=True):
        ax.annotate(
            f"{rate.median:,.0f}", (rate.high, position), (6, 0), textcoords="offset points", va="center"
        )
    ax.set_yticks(positions, [_label(result) for result in results])
    ax.set_xlim(0, 1.15 * max(rate.high for rate in rates))
    ax.set_xlabel("images per second (bar: median epoch, whisker: slowest to fastest)")
    return _finish(ax, title)


def plot_operations(operations: Mapping[str, FileOps], title: str = "", ax: Axes | None = None) -> Axes:
    """Draw opens, stats, reads and listings as one stacked bar for each way of reading.

    Args:
        operations: label to counts; the first one is drawn on top.
        title: what is counted.
        ax: where to draw; by default a new figure.
    """
    ax = ax or _new_axes(len(operations))
    left = [0] * len(operations)
    for kind, colour in KIND_COLOURS.items():
        counts = [getattr(o, kind) for o in operations.values()]
        if any(counts):
            ax.barh(range(len(counts)), counts, left=left, color=colour, height=0.6, label=kind)
        left = [a + b for a, b in zip(left, counts, strict=True)]
    for position, total in enumerate(left):
        ax.annotate(f"{total:,}", (total, position), (6, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(left)), operations)
    ax.set_xlim(0, 1.15 * max(left))
    ax.set_xlabel("file operations")
    ax.legend(frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)
    return _finish(ax, title, pad=24)


def _result_cells(result: BenchmarkResult) -> tuple[str, ...]:
    time, first = result.seconds, [epoch for epoch in result.epochs if epoch.number == 0]
    return (
        result.label,
        str(result.device),
        "?" if result.num_workers is None else str(result.num_workers),
        f"{result.images_per_second:,.0f}",
        f"{time.median:.3f} ({time.low:.3f} to {time.high:.3f})",
        str(time.count),
        _cached(result.typical),
        f"{result.first.median:.3f}" if first else "left out",
        _cached(first) if first else "",
        f"{result.first_batch.median:.3f}",
        f"{result.nbytes / 1e6:,.1f}",
    )


def _cached(epochs: Sequence[Epoch]) -> str:
    """Say what part of the files was in the page cache before these epochs."""
    states = [epoch.cache for epoch in epochs if epoch.cache is not None]
    if not states:
        return "unknown"
    if any(state.fraction is None for state in states):
        return "not measurable"
    low, high = (pick(states, key=lambda state: state.fraction).short() for pick in (min, max))
    return low if low == high else f"{low} to {high}"


def _label(result: BenchmarkResult) -> str:
    workers = "" if result.num_workers is None else f", {result.num_workers} workers"
    cached = _cached(result.typical)
    cache = "" if cached == "unknown" else f", cached: {cached}"
    name = result.label.replace(" (", "\n(", 1)  # a model's note is long
    return f"{name}\n{result.device}{workers}{cache}"


def _whiskers(stats: Sequence[Stat]) -> list[list[float]]:
    return [[s.median - s.low for s in stats], [s.high - s.median for s in stats]]


def _new_axes(bars: int) -> Axes:
    return plt.subplots(figsize=(8, 1.2 + 0.65 * bars), layout="constrained")[1]


def _finish(ax: Axes, title: str, pad: float = 6) -> Axes:
    ax.invert_yaxis()
    ax.set_title(title, loc="left", pad=pad)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _html_row(cells: Sequence[str], tag: str) -> str:
    first, *rest = (html.escape(cell) for cell in cells)
    others = "".join(f'<{tag} style="text-align: right">{cell}</{tag}>' for cell in rest)
    return f'<tr><{tag} style="text-align: left">{first}</{tag}>{others}</tr>'

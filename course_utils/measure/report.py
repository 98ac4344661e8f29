"""Tables of benchmark results and of file operations, and a plot of the operations.

Example:
    >>> from course_utils.measure import operations_table
    >>> from course_utils.storage import FileOps
    >>> operations_table({"JPEG files": FileOps(4000, 4000, 12000), "zip": FileOps(1, 1, 8000)})
    read through  opens  stats   reads  listings   MB  operations
    JPEG files    4,000  4,000  12,000         0  0.0      20,000
    zip               1      1   8,000         0  0.0       8,002
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from course_utils.measure.results import BenchmarkResult, Epoch
from course_utils.storage import FileOps

__all__ = ["Table", "benchmark_table", "operations_table", "plot_operations"]

KIND_COLOURS = {"opens": "#ee6677", "stats": "#ccbb44", "reads": "#4477aa", "listings": "#aa3377"}


@dataclass(frozen=True)
class Table:
    """Rows of text under a header: HTML in a notebook, aligned columns in a terminal.

    Written by hand, because pandas or tabulate would be a dependency for these few lines.

    Args:
        header: column names with their units.
        rows: cells, each row as long as the header; the first column is left-aligned, the others right.
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
    """Tabulate benchmark results: times of the typical and the first epochs, and the page cache before them.

    Args:
        results: results of `course_utils.measure.benchmark`, one per row.
    """
    header = (
        "what", "device", "workers", "images/s", "s per epoch (min to max)", "epochs", "cached before",
        "first epoch, s", "cached before the first", "first batch, s", "MB delivered",
    )  # fmt: skip
    return Table(header, [_result_cells(result) for result in results])


def operations_table(operations: Mapping[str, FileOps]) -> Table:
    """Tabulate counts of file operations.

    Args:
        operations: counts by label, one per row.
    """
    header = ("read through", "opens", "stats", "reads", "listings", "MB", "operations")
    rows = [
        (label, f"{o.opens:,}", f"{o.stats:,}", f"{o.reads:,}", f"{o.listings:,}", f"{o.nbytes / 1e6:,.1f}",
         f"{o.operations:,}")
        for label, o in operations.items()
    ]  # fmt: skip
    return Table(header, rows)


def plot_operations(operations: Mapping[str, FileOps], title: str = "", ax: Axes | None = None) -> Axes:
    """Plot opens, stats, reads and listings as one stacked bar per label.

    Args:
        operations: counts by label, from top to bottom.
        title: title of the plot.
        ax: axes to draw on; by default those of a new figure.
    """
    bars = len(operations)
    ax = ax or plt.subplots(figsize=(8, 1.2 + 0.65 * bars), layout="constrained")[1]
    left = [0] * bars
    for kind, colour in KIND_COLOURS.items():
        counts = [getattr(o, kind) for o in operations.values()]
        if any(counts):
            ax.barh(range(bars), counts, left=left, color=colour, height=0.6, label=kind)
        left = [a + b for a, b in zip(left, counts, strict=True)]
    for position, total in enumerate(left):
        ax.annotate(f"{total:,}", (total, position), (6, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(bars), operations)
    ax.invert_yaxis()
    ax.set_xlim(0, 1.15 * max(left))
    ax.set_xlabel("file operations")
    ax.legend(frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(0, 1), borderpad=0)
    ax.set_title(title, loc="left", pad=24)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _result_cells(result: BenchmarkResult) -> tuple[str, ...]:
    time, first = result.seconds, result.first
    return (
        result.label,
        str(result.device),
        "?" if result.num_workers is None else str(result.num_workers),
        f"{result.images_per_second:,.0f}",
        f"{time.median:.3f} ({time.low:.3f} to {time.high:.3f})",
        str(time.count),
        _cached(result.typical),
        f"{first.median:.3f}" if first else "excluded",
        _cached([epoch for epoch in result.epochs if epoch.number == 0]) if first else "",
        f"{result.first_batch.median:.3f}",
        f"{result.nbytes / 1e6:,.1f}",
    )


def _cached(epochs: Sequence[Epoch]) -> str:
    """Return which part of the files was in the page cache before these epochs."""
    states = [epoch.cache for epoch in epochs if epoch.cache is not None]
    if not states:
        return "unknown"
    if any(state.fraction is None for state in states):
        return "not measurable"
    states.sort(key=lambda state: state.fraction or 0.0)
    low, high = states[0].short(), states[-1].short()
    return low if low == high else f"{low} to {high}"


def _html_row(cells: Sequence[str], tag: str) -> str:
    first, *rest = (html.escape(cell) for cell in cells)
    others = "".join(f'<{tag} style="text-align: right">{cell}</{tag}>' for cell in rest)
    return f'<tr><{tag} style="text-align: left">{first}</{tag}>{others}</tr>'

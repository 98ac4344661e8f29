"""Cells of the tables and contents of the plot."""

from dataclasses import replace

import matplotlib as mpl
import pytest
import torch

from course_utils.measure.report import (
    Table,
    benchmark_table,
    operations_table,
    plot_operations,
)
from course_utils.measure.results import BenchmarkResult, Epoch
from course_utils.storage.io_counter import FileOps
from course_utils.storage.page_cache import CacheState

mpl.use("Agg")

COLD, WARM = CacheState(1000, 0), CacheState(1000, 1000)


def result(caches=(COLD, WARM, WARM)):
    seconds = [4.0, 2.0, 1.0]
    epochs = [Epoch(i, seconds[i], 0.5, 100, 2_000_000, cache) for i, cache in enumerate(caches)]
    return BenchmarkResult("JPEG files", tuple(epochs), caches[-1], torch.device("cpu"), 10, 2)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    mpl.pyplot.close("all")


def row(table):
    return dict(zip(table.header, table.rows[0], strict=True))


def test_benchmark_row_shows_first_and_later_epochs():
    cells = row(benchmark_table([result()]))
    assert cells["s per epoch (min to max)"] == "1.500 (1.000 to 2.000)"
    assert (cells["images/s"], cells["epochs"], cells["cached before"]) == ("75", "2", "100 %")
    assert (cells["first epoch, s"], cells["cached before the first"]) == ("4.000", "0 %")


@pytest.mark.parametrize(
    ("caches", "expected"),
    [
        ((None, None), "unknown"),
        ((WARM, CacheState(1000, None, "tmpfs")), "not measurable"),
        ((WARM, COLD, WARM), "0 % to 100 %"),
    ],
)
def test_benchmark_row_shows_the_cache_or_why_not(caches, expected):
    assert row(benchmark_table([result(caches=caches)]))["cached before"] == expected


def test_operations_table_is_aligned_text():
    table = operations_table(
        {"JPEG files": FileOps(4000, 4000, 12000, 1, 90_500_000), "zip": FileOps(1, 1, 8000)}
    )
    assert repr(table) == (
        "read through  opens  stats   reads  listings    MB  operations\n"
        "JPEG files    4,000  4,000  12,000         1  90.5      20,001\n"
        "zip               1      1   8,000         0   0.0       8,002"
    )


def test_html_table_is_escaped():
    shown = Table(["a"], [["<b>"]])._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


def test_benchmark_row_without_first_epoch_says_excluded():
    typical = result()
    cells = row(benchmark_table([replace(typical, epochs=typical.epochs[1:])]))
    assert (cells["first epoch, s"], cells["cached before the first"]) == ("excluded", "")


def test_operations_are_stacked_by_kind():
    ax = plot_operations({"JPEG files": FileOps(10, 10, 30), "zip": FileOps(1, 1, 20)})
    assert sum(bar.get_width() for bar in ax.patches) == 72
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["opens", "stats", "reads"]
    assert [text.get_text() for text in ax.texts] == ["50", "22"]

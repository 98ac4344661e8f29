import numpy as np
import pytest
import torch
from matplotlib import pyplot as plt

from course_utils.measure.plots import plot_cold_and_warm, plot_epochs, plot_pairs, plot_steps
from course_utils.measure.results import BenchmarkResult, Epoch


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def result(*seconds, label="files"):
    epochs = tuple(Epoch(number, time, time / 4, 10, 100) for number, time in enumerate(seconds))
    return BenchmarkResult(label, epochs, None, torch.device("cpu"))


def heights(ax):
    return [
        [bar.get_height() for bar in container.patches]
        for container in ax.containers
        if hasattr(container, "patches")
    ]


def test_epochs_have_their_seconds_and_waits():
    ax = plot_epochs(result(4, 2, 3))
    assert heights(ax) == [[4, 2, 3], [1, 0.5, 0.75]]
    first, *later = (bar.get_facecolor() for bar in ax.containers[0].patches)
    assert first not in later
    assert len(set(later)) == 1


def test_cold_and_warm_are_medians_of_first_and_later_epochs():
    ax = plot_cold_and_warm([result(4, 2, 3), result(9, 1, 1, label="zip")])
    assert heights(ax) == [[4, 9], [2.5, 1]]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["files", "zip"]


def test_warm_start_has_no_cold_bar():
    warm = BenchmarkResult("files", (Epoch(1, 2, 1, 10, 100),), None, torch.device("cpu"))
    with pytest.raises(ValueError, match="files was measured with warm_start=True"):
        plot_cold_and_warm([warm])


def test_steps_are_medians_from_top_to_bottom():
    ax = plot_steps({"decode": np.array([1, 2, 4]), "resize": np.array([5, 6, 7])})
    assert [bar.get_width() for bar in ax.patches] == [2, 6]
    assert ax.yaxis_inverted()


def test_pairs_are_joined_points_from_top_to_bottom():
    ax = plot_pairs({"tar": (1.0, 3.0), "zip": (20.0, 2.0)}, ("before", "after"), "bytes")
    before, after = (points.get_offsets()[:, 0].tolist() for points in ax.collections[1:])
    assert (before, after) == ([1, 20], [3, 2])
    assert ax.yaxis_inverted()
    assert ax.get_xscale() == "log"

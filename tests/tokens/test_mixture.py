"""Shares of sources: tempered by a temperature, counted in windows of a stream, and drawn."""

import math

import numpy as np
import pytest
from matplotlib import pyplot as plt

from course_utils.tokens import plot_shares, shares, tempered_weights

SIZES = [900, 90, 10]


def test_temperature_leads_from_the_sizes_to_equal_shares():
    assert tempered_weights(SIZES, 1) == pytest.approx([0.9, 0.09, 0.01])
    assert tempered_weights(SIZES, math.inf) == pytest.approx([1 / 3] * 3)
    assert tempered_weights([400, 100], 2) == pytest.approx([2 / 3, 1 / 3])
    smallest = [tempered_weights(SIZES, temperature)[-1] for temperature in (0.001, 1, 2, 5, 100)]
    assert smallest == sorted(smallest)
    assert smallest[0] == pytest.approx(0)


@pytest.mark.parametrize(("sizes", "temperature"), [([3, 4], 0), ([3, 0], 1)])
def test_shares_without_a_meaning_are_refused(sizes, temperature):
    with pytest.raises(ValueError, match="above 0"):
        tempered_weights(sizes, temperature)


def test_shares_are_counted_in_whole_windows():
    found = shares(iter([0, 0, 1, 2, 1, 1, 1, 1, 0]), window=4, count=3)
    assert found.tolist() == [[0.5, 0.25, 0.25], [0, 1, 0]]
    assert shares([0], window=4, count=3).shape == (0, 3)


def test_plot_has_a_line_and_a_weight_for_each_source():
    found = shares([0, 1] * 500, window=100, count=2)
    ax = plot_shares(found, 100, ["code", "text"], [0.25, 0.75])
    solid = [line for line in ax.lines if line.get_linestyle() == "-"]
    dashed = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert [list(line.get_ydata()) for line in solid] == [[0.5] * 10] * 2
    assert dashed == [0.25, 0.75]
    assert np.all(solid[0].get_xdata() == np.arange(50, 1000, 100))
    assert "windows of 100" in ax.get_xlabel()
    plt.close(ax.figure)

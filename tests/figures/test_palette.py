"""Colours of one plot can be told apart with every common colour blindness, and from both backgrounds.

A colour blindness is simulated by the matrices of Machado, Oliveira and Fernandes (2009, severity 1), and
colours are compared by their distance in CIELAB: 2 is just noticeable side by side.
"""

from itertools import combinations

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import colors
from matplotlib import pyplot as plt

from course_utils.figures import INK, SERIES, use_course_style
from course_utils.measure.plots import COLD, WARM
from course_utils.measure.report import KIND_COLOURS
from course_utils.measure.utilisation import COLOURS as UTILISATION
from course_utils.pipeline.timeline import COLOURS as STAGES
from course_utils.pipeline.timeline import IDLE_COLOUR

mpl.use("Agg")
SIGHT = {
    "all colours": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}
PLOTS = {
    "series": SERIES,
    "stages": (*STAGES.values(), IDLE_COLOUR),
    "operations": tuple(KIND_COLOURS.values()),
    "utilisation": UTILISATION,
    "cold and warm": (COLD, WARM),
}
BACKGROUNDS = ("#ffffff", "#111111")
APART = 15


def as_seen(colour: str, sight: str) -> np.ndarray:
    """Return the place of a colour in CIELAB for somebody's sight."""
    channels = np.array(colors.to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.412456, 0.357576, 0.180437], [0.212673, 0.715152, 0.072175], [0.019334, 0.119192, 0.950304]]
    xyz = to_xyz @ np.clip(SIGHT[sight] @ linear, 0, 1) / (0.95047, 1, 1.08883)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: str, other: str, sight: str) -> float:
    return float(np.linalg.norm(as_seen(one, sight) - as_seen(other, sight)))


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("plot", PLOTS)
def test_colours_of_a_plot_can_be_told_apart(plot: str, sight: str):
    close = [pair for pair in combinations(set(PLOTS[plot]), 2) if distance(*pair, sight) < APART]
    assert not close


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_differ_from_both_backgrounds(sight: str):
    seen = {
        (colour, paper): distance(colour, paper, sight)
        for plot in PLOTS.values()
        for colour in plot
        for paper in BACKGROUNDS
    }
    assert not {pair for pair, far in seen.items() if far < APART}


def test_distance_finds_matplotlibs_own_colours_too_close():
    assert (
        distance("tab:orange", "tab:green", "protanopia")
        < APART
        < distance("tab:orange", "tab:green", "all colours")
    )
    assert distance("tab:green", "tab:red", "deuteranopia") < APART


def test_plots_take_the_series_in_order_and_outline_areas():
    with plt.rc_context():
        use_course_style()
        axes = plt.figure().add_subplot()
        lines = [axes.plot([0, 1])[0].get_color() for _ in SERIES]
        [bar] = axes.bar([0], [1], color="#F0E442")
        assert lines == list(SERIES)
        assert colors.to_hex(bar.get_edgecolor()) == INK
        plt.close("all")

"""The chart and the picture of the start page say the same: before, now, and the ceiling of this machine."""

import base64
from dataclasses import replace
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import pytest

from course_utils.train_script.before_after import progress
from course_utils.train_script.chart import plot_log
from course_utils.train_script.svg import picture
from tests.train_script.test_measuring import LINE

OTHER = replace(LINE, machine="another, 64 cores", slowest=900.0, fastest=1000.0)
LOG = [
    OTHER,
    LINE,
    replace(LINE, date="2026-11-25T11:00:00+01:00", fastest=70.0),
    replace(LINE, date="2026-11-26T10:00:00+01:00", lesson="03", slowest=700.0, fastest=800.0),
    replace(
        LINE, date="2026-11-26T11:00:00+01:00", lesson="03", slowest=900.0, fastest=1360.0, ceiling=1700.0
    ),
]
TOLD = "68 images/s before, 1,360 now: 20.0 times, 80% of the ceiling"


def test_progress_is_of_one_machine_and_takes_the_newest_run_of_a_lesson():
    found = progress(LOG)
    assert [(line.lesson, line.fastest) for line in found.after] == [("00", 70.0), ("03", 1360.0)]
    assert str(found) == TOLD
    assert str(progress(LOG[1:2])) == "68 images/s before, 68 now: 1.0 times"


def test_an_empty_log_is_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="measure"):
        progress([])


def test_chart_has_a_bar_for_each_run_and_a_line_for_the_ceiling():
    axes = plot_log(LOG)
    assert [round(bar.get_width()) for bar in axes.patches] == [68, 70, 1360]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["before", "lesson 00", "lesson 03"]
    assert axes.get_title(loc="left") == TOLD
    assert "ceiling: one cached batch" in axes.get_legend_handles_labels()[1]
    plt.close()


def test_picture_is_an_image_that_says_in_words_what_it_shows():
    text, _, url = picture(progress(LOG))[2:-1].partition("](")
    assert text == TOLD
    svg = ElementTree.fromstring(base64.b64decode(url.partition(",")[2]))
    said = [node.text for node in svg.iter() if node.text]
    assert said == ["before", "68 images/s", "now", "1,360 images/s", "ceiling: 1,700"]

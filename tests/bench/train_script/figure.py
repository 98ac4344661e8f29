"""The figure of a record, readable on white and on black."""

from pathlib import Path

import matplotlib as mpl

from course_utils.figures import BLUE, GREEN, ORANGE, use_course_style
from tests.bench.recording.spread import Spread
from tests.bench.train_script.page import GIVEN, speed


def draw(record: dict, path: Path) -> None:
    """Draw the images per second of all versions with their range, and the ceilings, as SVG."""
    mpl.use("agg")
    from matplotlib import pyplot as plt

    with mpl.rc_context():
        use_course_style()
        mpl.rc("svg", hashsalt="train_script")  # any constant: it makes the file reproducible
        figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
        versions = list(record["speeds"])
        speeds = [speed(record, one) for one in versions]
        axes.barh(
            versions,
            [one.median for one in speeds],
            xerr=([one.median - one.low for one in speeds], [one.high - one.median for one in speeds]),
            color=[ORANGE if one == GIVEN else BLUE for one in versions],
            ecolor=mpl.rcParams["text.color"],
        )
        ceilings = {one: Spread.of(found).median for one, found in record["ceilings"].items()}
        axes.plot(
            list(ceilings.values()),
            list(ceilings),
            "|",
            color=GREEN,
            markersize=22,
            markeredgewidth=3,
            label="ceiling: one cached batch",
        )
        axes.invert_yaxis()
        axes.set(xlabel="images per second", ylabel="version", xlim=(0, None))
        figure.legend(loc="outside lower right")
        figure.savefig(path, metadata={"Date": None}, transparent=True)
        plt.close(figure)

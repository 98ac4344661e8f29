"""The figure of a record of random crops, readable on white and on black."""

import hashlib
import json
from pathlib import Path

import matplotlib as mpl

from course_utils.figures import use_course_style
from tests.bench.crop_record.ratios import LIMITS, limits, loaders, short_name
from tests.bench.recording.spread import Spread

# Both have a contrast of more than 3 to 1 with white and with black.
COLOURS = {"warm": "#3d7fc4", "cold": "#c8701a"}
TITLES = {"uint8": "batches of uint8", "float32": "normalised batches of float32"}


def plot(record: dict, path: Path) -> None:
    """Draw the speeds of all loaders with their range, and the limits, as SVG."""
    mpl.use("agg")
    from matplotlib import pyplot as plt

    with mpl.rc_context():
        use_course_style()
        mpl.rc("svg", hashsalt="crops")  # any constant: it makes the file reproducible
        kinds = [output for output in TITLES if loaders(record, output)]
        figure, panels = plt.subplots(1, len(kinds), figsize=(5.5 * len(kinds), 4.5), squeeze=False)
        for panel, output in zip(panels[0], kinds, strict=True):
            _draw(panel, record, output)
        figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        figure.tight_layout(rect=(0, 0.12, 1, 1))
        metadata = {"Date": None, "Description": fingerprint(record)}
        figure.savefig(path, metadata=metadata, transparent=True, bbox_inches="tight")
        plt.close(figure)


def fingerprint(record: dict) -> str:
    """Return what the figure says in its metadata about the record that it shows."""
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    return f"Drawn from the record with the SHA-256 {digest}"


def _draw(panel: mpl.axes.Axes, record: dict, output: str) -> None:
    rows = loaders(record, output)
    for shift, (column, colour) in zip((-0.2, 0.2), COLOURS.items(), strict=True):
        speeds = [Spread.of(row[column]) for row in rows]
        spread = [[one.median - one.low for one in speeds], [one.high - one.median for one in speeds]]
        places = [place + shift for place in range(len(rows))]
        panel.barh(
            places,
            [one.median for one in speeds],
            0.4,
            xerr=spread,
            color=colour,
            hatch="" if column == "warm" else "//",
            ecolor=mpl.rcParams["text.color"],
            label=f"{column} page cache",
        )
    for style, (name, speed) in zip(("-", "--", ":"), limits(record).items(), strict=False):
        colour = mpl.rcParams["text.color"]
        panel.axvline(speed.median, linestyle=style, color=colour, label=f"limit: {LIMITS[name]}")
    panel.set_yticks(range(len(rows)), [short_name(row["loader"]) for row in rows])
    panel.invert_yaxis()
    panel.set(title=TITLES[output], xlabel=f"images per second on {record['cores']} cores")

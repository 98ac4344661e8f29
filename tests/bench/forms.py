"""What an epoch over the same photographs asks of the file system, in each form: counts, the same everywhere.

The README's figure is made by it:

    python -m tests.bench.forms --figure tests/bench/forms.svg
"""

import argparse
from pathlib import Path

from matplotlib import pyplot as plt

from course_utils.data import JpegDataset, ZIPDataset
from course_utils.measure import operations_table, plot_operations
from course_utils.paths import data_dir
from course_utils.storage import FileOps, count_epoch


def count(folder: Path) -> dict[str, FileOps]:
    """Count the opening of each form together with one epoch."""
    forms = {
        "JPEG files": lambda: JpegDataset(folder / "disk_transformed"),
        "JPEG in one zip": lambda: ZIPDataset(folder / "zip_encoded" / "part0.zip", load_encoded=True),
        "pixels in one zip": lambda: ZIPDataset(folder / "zip" / "part0.zip"),
    }
    counted = {label: count_epoch(form) for label, form in forms.items()}
    return {label: ops.opening + ops.epoch for label, ops in counted.items()}


def main() -> None:
    """Print the counts, and draw them where a figure is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, help="where to write the figure (SVG or PNG)")
    options = parser.parse_args()
    counts = count(data_dir())
    print(operations_table(counts))
    print(counts["JPEG files"].for_users(500))
    if options.figure:
        plt.rcParams["svg.hashsalt"] = "forms"  # the same figure is the same file
        axes = plot_operations(counts, "One epoch over 2,000 photographs")
        axes.figure.savefig(options.figure, metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main()

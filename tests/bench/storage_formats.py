"""Count the file operations of one epoch over the same photographs in each storage format.

The counts do not depend on the machine. This command draws the README's figure:

    python -m tests.bench.storage_formats --figure tests/bench/storage_formats.svg
"""

import argparse
from pathlib import Path

from matplotlib import pyplot as plt

from course_utils.data import JpegDataset, ZIPDataset
from course_utils.measure import operations_table, plot_operations
from course_utils.paths import data_dir
from course_utils.storage import FileOps, count_epoch


def count(folder: Path) -> dict[str, FileOps]:
    """Return the file operations of opening each format and of one epoch over it."""
    formats = {
        "JPEG files": lambda: JpegDataset(folder / "disk_transformed"),
        "JPEG in one zip": lambda: ZIPDataset(folder / "zip_encoded" / "part0.zip", load_encoded=True),
        "pixels in one zip": lambda: ZIPDataset(folder / "zip" / "part0.zip"),
    }
    counted = {label: count_epoch(opener) for label, opener in formats.items()}
    return {label: ops.opening + ops.epoch for label, ops in counted.items()}


def main() -> None:
    """Print the counts and, on request, draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, help="where to write the figure (SVG or PNG)")
    options = parser.parse_args()
    counts = count(data_dir())
    print(operations_table(counts))
    print(counts["JPEG files"].for_users(500))
    if options.figure:
        plt.rcParams["svg.hashsalt"] = "forms"  # any constant: it makes the file reproducible
        axes = plot_operations(counts, "One epoch over 2,000 photographs")
        axes.figure.savefig(options.figure, metadata={"Date": None}, bbox_inches="tight")


if __name__ == "__main__":
    main()

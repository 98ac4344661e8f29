"""Count the file operations of one epoch over the same photographs in each storage format.

With 4 KiB buffers, the counts do not depend on the machine. This command draws the README's figure:

    python -m tests.bench.storage_formats --figure tests/bench/storage_formats.svg

A JSON file beside the figure says where and when it was drawn, and from which counts.
"""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from matplotlib import pyplot as plt

from course_utils.data import IndexedZIPDataset, JpegDataset, ZIPDataset
from course_utils.measure import operations_table, plot_operations
from course_utils.paths import data_dir
from course_utils.storage import FileOps, count_epoch
from tests.bench.recording.environment import environment


def count(folder: Path) -> dict[str, FileOps]:
    """Return the file operations of opening each format and of one epoch over it."""
    pack = folder / "zip_encoded" / "part0.zip"
    counted = {
        "files": count_epoch(lambda: JpegDataset(folder / "disk_transformed"), shuffle=True),
        "one zip, in order": count_epoch(lambda: ZIPDataset(pack, load_encoded=True)),
        "one zip": count_epoch(lambda: ZIPDataset(pack, load_encoded=True), shuffle=True),
        "one zip, index and pread": count_epoch(
            lambda: IndexedZIPDataset(pack, load_encoded=True), shuffle=True
        ),
    }
    return {label: ops.opening + ops.epoch for label, ops in counted.items()}


def main() -> None:
    """Print the counts and, on request, draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", type=Path, help="where to write the figure (SVG or PNG)")
    options = parser.parse_args()
    counts = count(data_dir())
    print(operations_table(counts))
    print(counts["files"].for_users(500))
    if options.figure:
        plt.rcParams["svg.hashsalt"] = "forms"  # any constant: it makes the file reproducible
        axes = plot_operations(counts, "One epoch over 2,000 JPEG photographs, shuffled unless noted")
        axes.figure.savefig(options.figure, metadata={"Date": None}, bbox_inches="tight")
        record = environment("torch", "pillow") | {
            "counts": {name: asdict(ops) for name, ops in counts.items()}
        }
        options.figure.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()

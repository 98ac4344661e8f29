"""The records of random crops: speeds of all rounds, from which the book shows ratios."""

import json
from pathlib import Path
from typing import NamedTuple

from tests.bench.crop_record import plot, text

FOLDER = Path(__file__).parents[1]
COLUMNS = {"warm": 1, "cold": 1, "first_s": 3, "compile_s": 1, "memory_mib": 0}  # and their decimal places
KEPT = (
    "made", "machine", "python", "versions", "data", "images", "batch_size", "rounds", "missing", "uncached",
    "cold_epoch",
)  # fmt: skip


class Files(NamedTuple):
    """A record, and the page and the figure that show it."""

    record: Path
    page: Path
    figure: Path

    @classmethod
    def named(cls, name: str) -> "Files":
        return cls(*(FOLDER / f"{name}{ending}" for ending in ("_ratios.json", "s.md", "s.svg")))


SMALL, LARGE = Files.named("crop"), Files.named("imagenet_crop")


def write_record(report: dict) -> None:
    """Write the record, and the page and the figure that show it."""
    record, files = recorded(report), LARGE if report["data"] else SMALL
    files.record.write_text(json.dumps(record, indent=1) + "\n")
    files.page.write_text(text.page(record, files.figure.name))
    plot.plot(record, files.figure)


def recorded(report: dict) -> dict:
    """Return what is kept of a report: for each loader and limit one number per round, on all cores."""
    cores = max(row["cores"] for row in report["rows"])
    rows = [row for row in report["rows"] if row["cores"] == cores]
    names = dict.fromkeys(row["loader"] for row in rows if row["loader"] not in report["missing"])
    record = {key: report[key] for key in KEPT} | {"cores": cores}
    record["resident"] = max((row["resident"] for row in rows if "resident" in row), default=0.0)
    record["crops"] = {
        name: found.get("error") or max(found.values()) for name, found in report["crops"].items()
    }
    record["loaders"] = [
        {"loader": name, "decoder": report["decoder"][name], "output": report["output"][name]}
        | {
            column: [round(row[column], places) for row in rows if row["loader"] == name]
            for column, places in COLUMNS.items()
        }
        for name in names
    ]
    return record

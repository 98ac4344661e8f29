"""The ratios to the limit that the book shows, from the benchmark of loaders."""

import json
from pathlib import Path

from tests.bench.loading.report import decodes, ranked, ratio
from tests.bench.recording.environment import where_and_when

RECORD = Path(__file__).parents[1] / "loader_ratios.json"
PAGE = RECORD.with_name("loaders.md")


def write_record(report: dict) -> None:
    """Write the record, and the page that shows it."""
    RECORD.write_text(json.dumps(recorded(report), indent=1) + "\n")
    PAGE.write_text(page(recorded(report)))


def recorded(report: dict) -> dict:
    """Return what the book shows of a report: ratios on all cores, for loaders that decode."""
    names, all_cores = ranked(report)
    cores = all_cores[-1]
    shown = [name for name in names if decodes(report, name) and report["output"][name] == "uint8"]
    rows = [
        {"loader": name, "decoder": report["decoder"][name]}
        | {column: round(ratio(report, name, cores, column).median, 2) for column in ("warm", "cold")}
        for name in shown
        if name not in report["missing"]
    ]
    kept = (
        "made",
        "machine",
        "python",
        "versions",
        "images",
        "batch_size",
        "rounds",
        "missing",
        "cold_epoch",
    )
    return {key: report[key] for key in kept} | {"cores": cores, "loaders": rows}


def rows(record: dict) -> list[str]:
    """Return the rows of the table."""
    return [
        f"| {row['loader']} | {row['decoder']} | {row['warm']:.2f} | {row['cold']:.2f} |"
        for row in record["loaders"]
    ]


TEXT = """\
# Loaders, as a part of their limit

{images:,} photographs of 256x256 pixels in batches of {batch_size}, on {cores} cores, median of {rounds} \
({environment}).

Measured without a GPU, by the authors of `FastLoader`.

The *limit* is the same decoder running on bytes in memory, in one process per core. *Warm*: a later \
epoch, with the files in the page cache; *cold*: {cold_epoch}, with none of them there. Where a library \
has a decoder of its own, which cannot run alone, its loader is compared with the limit of simplejpeg \
(libjpeg-turbo).

| loader | decoder | warm, of the limit | cold, of the limit |
|---|---|---|---|
{rows}

{missing}{older}Compare loaders of the same decoder first. What differs between them is how they read, \
divide and collect the work; the format is only a part of that. A ratio says more about \
another machine than images per second do, but it depends on cores, memory and Python as well. Loaders that \
crop full-size photographs, FFCV among them, are on [a separate page](crops.md).

Made by `python -m tests.bench.loader --record`.
"""


OLDER = """\
*Decoder torchvision*: torchvision has since deprecated its image decoders. Today the benchmark runs these \
loaders with TorchCodec; they have not been recorded again.

"""


def page(record: dict) -> str:
    """Return the book's page."""
    rounds, missing = record["rounds"], [name for name in record["missing"] if "float" not in name]
    fields = record | {
        "environment": where_and_when(record),
        "rounds": f"{rounds} rounds" if rounds > 1 else "one round",
        "rows": "\n".join(rows(record)),
        "missing": f"Not measured here: {', '.join(missing)}.\n\n" if missing else "",
        "older": OLDER if "torchvision" in {row["decoder"] for row in record["loaders"]} else "",
    }
    return TEXT.format_map(fields)

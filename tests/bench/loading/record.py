"""The ratios to the limit that lesson 04 shows, from the benchmark of loaders."""

import json
from pathlib import Path

from tests.bench.loading.report import decodes, ranked, ratio
from tests.bench.recording.notebook import write_cell

RECORD = Path(__file__).parents[1] / "loader_ratios.json"
LESSON, CELL = "04_packed_formats", "loader-ratios"


def write_record(report: dict) -> None:
    """Write the record, and the cell of lesson 04 that shows it."""
    RECORD.write_text(json.dumps(recorded(report), indent=1) + "\n")
    write_cell(LESSON, CELL, lesson_text(recorded(report)))


def recorded(report: dict) -> dict:
    """Return what lesson 04 shows of a report: ratios on all cores, for loaders that decode."""
    names, all_cores = ranked(report)
    cores = all_cores[-1]
    shown = [name for name in names if decodes(report, name) and report["output"][name] == "uint8"]
    rows = [
        {"loader": name, "decoder": report["decoder"][name]}
        | {column: round(ratio(report, name, cores, column).median, 2) for column in ("warm", "cold")}
        for name in shown
        if name not in report["missing"]
    ]
    kept = ("made", "machine", "python", "versions", "images", "batch_size", "rounds", "missing")
    return {key: report[key] for key in kept} | {"cores": cores, "loaders": rows}


def lesson_rows(record: dict) -> list[str]:
    """Return the rows of the table in lesson 04."""
    return [
        f"| {row['loader']} | {row['decoder']} | {row['warm']:.2f} | {row['cold']:.2f} |"
        for row in record["loaders"]
    ]


TEXT = """\
Recorded so on {made} ({machine}, Python {python}, {libraries}): {images:,} photographs of 256x256 pixels \
in batches of {batch_size}, on {cores} cores, median of {rounds}. *Warm*: the files are in the page cache; \
*cold*: they are not, and the first epoch includes starting the workers. Where a library has a decoder of \
its own, which cannot run alone, its loader is compared with the limit of simplejpeg (libjpeg-turbo).

| loader | decoder | warm, of the limit | cold, of the limit |
|---|---|---|---|
{rows}

{missing}Compare loaders of the same decoder first. What differs between them is how they read, divide and \
collect the work; the format is only a part of that. `python -m tests.bench.loader --record` makes this \
table again.\
"""


def lesson_text(record: dict) -> str:
    """Return the cell of lesson 04 that shows a record."""
    rounds, missing = record["rounds"], [name for name in record["missing"] if "float" not in name]
    fields = record | {
        "libraries": ", ".join(f"{name} {found}" for name, found in record["versions"].items()),
        "rounds": f"{rounds} rounds" if rounds > 1 else "one round",
        "rows": "\n".join(lesson_rows(record)),
        "missing": f"Not measured there: {', '.join(missing)}.\n\n" if missing else "",
    }
    return TEXT.format_map(fields)

"""The ratios to the limit that the book shows, from the benchmark of loaders."""

import json
from pathlib import Path

from tests.bench.loading.report import INTO_BATCHES, decodes, ranked, ratio, spread
from tests.bench.recording.environment import where_and_when
from tests.bench.recording.spread import Spread

RECORD = Path(__file__).parents[1] / "loader_ratios.json"
PAGE = RECORD.with_name("loaders.md")
COLUMNS = ("warm", "cold")
FROM_A_PACK = "limit: simplejpeg from a pack"


def write_record(report: dict) -> None:
    """Write the record, and the page that shows it."""
    RECORD.write_text(json.dumps(recorded(report), indent=1) + "\n")
    PAGE.write_text(page(recorded(report)))


def recorded(report: dict) -> dict:
    """Return what the book shows of a report."""
    record = compared(report)
    return record | {"from_a_pack": [_kept(ratio(report, FROM_A_PACK, cores)) for cores in record["cores"]]}


def compared(report: dict) -> dict:
    """Return median and range of ratios, for loaders that decode, and how they were measured."""
    names, all_cores = ranked(report)
    shown = [name for name in names if decodes(report, name) and name not in report["missing"]]
    loaders = [
        {"loader": name, "decoder": report["decoder"][name], "batch": report["output"][name]}
        | {column: [_kept(ratio(report, name, cores, column)) for cores in all_cores] for column in COLUMNS}
        | {"first_s": _kept(spread(report, name, all_cores[-1], "first_s"))}
        for name in shown
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
    return {key: report[key] for key in kept} | {
        "cores": all_cores,
        "loaders": loaders,
        "limit": [_kept(spread(report, INTO_BATCHES, cores, "warm"), 0) for cores in all_cores],
    }


def _kept(spread: Spread, digits: int = 2) -> Spread:
    return Spread(*(round(value, digits) for value in spread))


def rows(record: dict) -> list[str]:
    """Return the rows of the table."""
    return [_row(record["cores"], row) for row in record["loaders"]]


def _row(all_cores: list[int], row: dict) -> str:
    ratios = [Spread(*row[column][i]).text() for i in range(len(all_cores)) for column in COLUMNS]
    first = f"{row['first_s'][0]:.2f}"
    return f"| {' | '.join([row['loader'], row['batch'], row['decoder'], *ratios, first])} |"


def heading(all_cores: list[int]) -> str:
    """Return the first two lines of the table."""
    ratios = [f"{column}, {_cores(cores)}" for cores in all_cores for column in COLUMNS]
    names = ["loader", "batch", "decoder", *ratios, "first batch, s"]
    return f"| {' | '.join(names)} |\n{'|---' * len(names)}|"


def _cores(cores: int) -> str:
    return f"{cores} core" + "s" * (cores > 1)


TEXT = """\
# Loaders, as a part of their limit

{images:,} photographs of 256x256 pixels in batches of {batch_size}, median (and range) of {rounds} \
({environment}).

Measured without a GPU, by the authors of `FastLoader`.

The *limit* is the same decoder running on bytes in memory, in one process per core; simplejpeg decodes \
there into the images of a batch, as loaders do: {limits}. A loader whose library has a decoder of its own, \
which cannot run alone, is compared with simplejpeg (libjpeg-turbo). *Warm*: a later epoch, with the files \
in the page cache; *cold*: {cold_epoch}, with none of them there. *First batch* includes importing the \
library and starting workers, and not what FFCV compiles.

{table}

{missing}`FastLoader` reads each image and compares its checksum, too. A loop that does so, and nothing else \
beside decoding, in one process per core reaches {from_a_pack} of the limit.

Compare loaders of the same decoder first. What differs between them is how they read, \
divide and collect the work; the format is only a part of that. A ratio says more about \
another machine than images per second do, but it depends on cores, memory and Python as well. Pages of \
their own have loaders that crop [full-size photographs](crops.md) and [files as large as \
ImageNet's](imagenet_crops.md), and [files that answer after a millisecond](delayed_files.md).

Made by `python -m tests.bench.loader --record`.
"""


def page(record: dict) -> str:
    """Return the book's page."""
    rounds, missing = record["rounds"], list(record["missing"])
    limits = [f"{limit[0]:,.0f} images/s" for limit in record["limit"]]
    shares = [Spread(*share).text() for share in record["from_a_pack"]]
    fields = record | {
        "environment": where_and_when(record),
        "rounds": f"{rounds} rounds" if rounds > 1 else "one round",
        "table": "\n".join([heading(record["cores"]), *rows(record)]),
        "missing": f"Not measured here: {', '.join(missing)}.\n\n" if missing else "",
        "limits": _on_cores(limits, record),
        "from_a_pack": _on_cores(shares, record),
    }
    return TEXT.format_map(fields)


def _on_cores(texts: list[str], record: dict) -> str:
    return " and ".join(
        f"{text} on {_cores(cores)}" for text, cores in zip(texts, record["cores"], strict=True)
    )

"""What the book says of a record of random crops."""

import statistics

from tests.bench.crop_record.ratios import (
    limit_ratio,
    limits,
    loaders,
    own_ratio,
    short_name,
)
from tests.bench.loading.photographs import IMAGENET_SIZES
from tests.bench.recording.environment import where_and_when
from tests.bench.recording.spread import Spread

KINDS = {"": "full-size photographs", IMAGENET_SIZES: "files as large as ImageNet's"}
OPTIONS = {"": "", IMAGENET_SIZES: "--imagenet-sizes "}
OUTPUTS = {"uint8": "uint8", "float32": "normalised float32"}
COLUMNS = ("warm", "cold")
DONE = {
    "limit: crops alone": "decodes with libjpeg-turbo the rows and columns that such crops need, and resizes "
    "them with PyTorch",
    "limit: what crops need": "decodes only the rows and columns that such crops need",
    "limit: simplejpeg alone": "decodes whole images",
}

PAGE = """\
# Loaders that crop {kind}

{photographs} cut at random and resized to 224x224 with antialiasing, as torchvision's `RandomResizedCrop` \
does, and flipped, in batches of {batch_size}, on {cores} cores: median (and range) of {rounds} \
({environment}).

Measured without a GPU, by the authors of `FastLoader`.

{verdicts}

![Bars of images per second for each loader, as in the table, and lines for the limits.]({figure})

| loader | batch | warm, images/s | warm, of the limit | cold, of the limit | first batch, s |
|---|---|---|---|---|---|
{rows}

A *limit* is a loop over files in memory, without a loader, in one process per core. {limits} Ratios are \
those of one round each. {cache} *First batch* includes importing the library and starting workers. \
{compiled}{crops}{missing}

Made by `python -m tests.bench.crops {option}--record`.
"""


def page(record: dict, figure: str) -> str:
    """Return the book's page."""
    return PAGE.format_map(
        _common(record)
        | {
            "verdicts": "\n".join(f"- {line}" for line in verdicts(record)),
            "figure": figure,
            "rows": "\n".join(
                _page_row(record, row) for output in OUTPUTS for row in loaders(record, output)
            ),
            "limits": _limits(record),
            "kind": KINDS.get(record["data"], "photographs of your own"),
            "option": OPTIONS.get(record["data"], "--data FOLDER "),
            "compiled": _compiled(record),
        }
    )


def _limits(record: dict) -> str:
    """Return what the limits do, and how fast."""
    told = [f"{DONE[name]}: {speed.text(0)} images/s" for name, speed in limits(record).items()]
    return f"The one that the table compares with {'; another one '.join(told)}."


def _compiled(record: dict) -> str:
    """Return how long FFCV compiles, which is measured apart."""
    seconds = [found for row in record["loaders"] for found in row["compile_s"] if found]
    if not seconds:
        return ""
    span = " to ".join(dict.fromkeys(f"{found:.0f}" for found in (min(seconds), max(seconds))))
    return f"FFCV compiles its steps in each process, for {span} s, which are not included. "


def _page_row(record: dict, row: dict) -> str:
    cells = [short_name(row["loader"]), row["output"], Spread.of(row["warm"]).text(0)]
    cells += [limit_ratio(record, row, column).text() for column in COLUMNS]
    return f"| {' | '.join([*cells, f'{_first_batch(row):.2f}'])} |"


def verdicts(record: dict) -> list[str]:
    """Return in sentences how the course's loader compares with the fastest other one, and with DALI."""
    lines = []
    for output, kind in OUTPUTS.items():
        for column in COLUMNS:
            lines.append(f"`FastLoader`, {kind}, {column}: {_verdict(record, output, column)}.")
        against = own_ratio(record, output, "warm", "DALI")
        if against:
            lines.append(f"`FastLoader` against DALI, {kind}, warm: a ratio of {against[1].text()}.")
    first = min((row for row in record["loaders"] if "limit" not in row["loader"]), key=_first_batch)
    return [
        *lines,
        f"The first batch came soonest from {short_name(first['loader'])}: {_first_batch(first):.2f} s.",
    ]


def _first_batch(row: dict) -> float:
    return statistics.median(row["first_s"])


def _verdict(record: dict, output: str, column: str) -> str:
    """Compare with the fastest other loader: who is ahead, and by what factor."""
    found = own_ratio(record, output, column)
    if found is None:
        return "not compared"
    name, ratio = found
    if ratio.low > 1:
        return f"{ratio.text()} times as fast as {name}, the fastest other loader"
    if ratio.high < 1:
        inverse = Spread(1 / ratio.median, 1 / ratio.high, 1 / ratio.low)
        return f"slower than {name}, which is {inverse.text()} times as fast"
    return f"level with {name}, at a ratio of {ratio.text()}"


def _common(record: dict) -> dict:
    rounds = record["rounds"]
    return {
        "photographs": f"{record['images']:,} photographs"
        + f" {record['data'] or 'of mixed sizes around 500x375'}",
        "batch_size": record["batch_size"],
        "cores": record["cores"],
        "rounds": f"{rounds} interleaved rounds" if rounds > 1 else "one round",
        "environment": where_and_when(record),
        "cache": _cache(record),
        "crops": _distributions(record),
        "missing": _missing(record),
    }


def _cache(record: dict) -> str:
    if record["uncached"]:
        return (
            f"*Warm* is a later epoch, *cold* {record['cold_epoch']}; the page cache: {record['uncached']}."
        )
    left = f"{record['resident']:.0%}"
    before = "none of them were" if left == "0%" else f"at most {left} of them were"
    warm = "*Warm*: a later epoch, with the files in the page cache"
    return f"{warm}; *cold*: {record['cold_epoch']}, before which {before}."


def _distributions(record: dict) -> str:
    """Return whether all loaders draw their crops as torchvision does."""
    if not record["crops"]:
        return "The distributions of the crops were not compared in this run. "
    far = [name for name, found in record["crops"].items() if not isinstance(found, str) and found > 1]
    unknown = [name for name, found in record["crops"].items() if isinstance(found, str)]
    told = f"Not distributed as torchvision's are the crops of {', '.join(far)}. " if far else ""
    told += f"Not compared with torchvision's crops: {', '.join(unknown)}. " if unknown else ""
    return told or "The crops of all loaders have the distribution of torchvision's (compared first). "


def _missing(record: dict) -> str:
    if not record["missing"]:
        return ""
    return f"Not measured: {', '.join(f'{name} ({why})' for name, why in record['missing'].items())}. "

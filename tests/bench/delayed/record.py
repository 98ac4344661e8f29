"""The ratios to the limit that the book shows, of loaders on files whose requests take a millisecond."""

import json
from pathlib import Path

from tests.bench.delayed.mount import AT_ONCE
from tests.bench.loading import record as loading_record
from tests.bench.recording.environment import where_and_when

RECORD = Path(__file__).parents[1] / "delayed_ratios.json"
PAGE = RECORD.with_name("delayed_files.md")

TEXT = """\
# Loaders on files that answer after a millisecond

{images:,} photographs of 256x256 pixels in batches of {batch_size}, each loader's files on a file system \
whose every `open` and `read` waits for a millisecond, as on a network or on a busy parallel file system: \
median (and range) of {rounds} rounds ({environment}).

Measured without a GPU, by the authors of `FastLoader`.

The file system is a program of the benchmark (FUSE): a read that is not in the page cache takes \
{request_ms:.1f} ms here, and up to {at_once} may be under way. It runs on the last of the {machine_cores} \
cores, so that a loader on one core has that core for itself, and one on all cores shares. *1 ms*: an epoch \
with none of the files in the page cache, which was verified; *cached*: a later one with all of them there. \
Both are compared with decoding alone, as [where nothing waits](loaders.md).

{table}

{missing}What a loader of one core keeps of its speed depends on how many requests it has under way while it \
decodes. `FastLoader` asks for all images of a batch, some batches before it decodes them; *without reading \
ahead*, each of its threads waits for its own image. Files in the order in which they are stored are read \
ahead by the kernel, whatever a loader does; a shuffled epoch is not. It begins with the requests of three \
batches of `FastLoader`, and FUSE drops those beyond {at_once}, without a word: their images are waited for \
one by one, which in an epoch of less than half a second is most of what is missing.

Made by `python -m tests.bench.loader --delayed --record`.
"""


def write_record(report: dict) -> None:
    """Write the record, and the page that shows it."""
    record = recorded(report)
    RECORD.write_text(json.dumps(record, indent=1) + "\n")
    PAGE.write_text(page(record))


def recorded(report: dict) -> dict:
    """Return what the book shows of a report: what it shows of other loaders, and what a request took."""
    return loading_record.compared(report) | {"request_ms": round(report["request_ms"], 2)}


def page(record: dict) -> str:
    """Return the book's page."""
    heading = loading_record.heading(record["cores"]).replace("warm", "cached").replace("cold", "1 ms")
    missing = list(record["missing"])
    fields = record | {
        "environment": where_and_when(record),
        "table": "\n".join([heading, *loading_record.rows(record)]),
        "missing": f"Not measured here: {', '.join(missing)}.\n\n" if missing else "",
        "at_once": AT_ONCE,
        "machine_cores": record["cores"][-1],
    }
    return TEXT.format_map(fields)

"""Complete records with invented numbers."""

import copy
from datetime import UTC, datetime, timedelta

import msgspec

from course_utils.record.schema import (
    FORMAT,
    PARTS,
    PROCESSES,
    VERSION,
    Machine,
    Part,
    Record,
    Round,
    Settings,
)

BEGUN = datetime(2026, 11, 1, tzinfo=UTC)
FORMS = ("JPEG files", "JPEG in a zip", "raw in a zip")
OPERATIONS = ("open", "stat", "read from a pack", "first read of a file")
VALUES = {
    "epochs": {f"{form}, {state}": 0.002 for form in FORMS for state in ("first", "again")},
    "operations": {f"{name}, {many}": 400.0 * many for name in OPERATIONS for many in PROCESSES},
    "decoding": {"Pillow": 2000.0, "TorchCodec, GPU (nvJPEG)": 9000.0},
    "transfers": {
        f"{memory}, {non_blocking=}, {when}": milliseconds
        for memory in ("pageable", "pinned")
        for non_blocking in (False, True)
        for when, milliseconds in (("returned", 1.5), ("done", 2.0))
    },
    "overlap": {"copies alone": 2.0, "kernels alone": 3.0, "one stream": 5.0, "two streams": 3.1},
    "steps": {"naive loop": 30.0, "2 workers": 12.0},
}


def rounds(name: str, number: int = 2) -> list[Round]:
    """Rounds of a part, the later ones slower."""
    return [
        Round(
            BEGUN + timedelta(minutes=3 * one),
            {key: value * (1 + 0.1 * one) for key, value in VALUES[name].items()},
        )
        for one in range(number)
    ]


def complete(gpu: str = "Scripted GPU", file_system: str = "lustre") -> Record:
    """A record without a fault."""
    parts = {
        name: Part(kind.unit, missing="no CUDA device")
        if kind.needs_gpu and not gpu
        else Part(kind.unit, rounds(name))
        for name, kind in PARTS.items()
    }
    return Record(
        FORMAT,
        VERSION,
        BEGUN,
        "python -m course_utils.record --hours 0.4",
        Machine("A processor", 16, gpu, "Linux 6", file_system, "evicted from the page cache"),
        {"python": "3.11.7"},
        Settings(2, 20, 2000, 1.0, 2000),
        parts,
    )


def plain(record: Record | None = None) -> dict:
    """A record as the data of its JSON."""
    return copy.deepcopy(msgspec.json.decode(msgspec.json.encode(record or complete())))

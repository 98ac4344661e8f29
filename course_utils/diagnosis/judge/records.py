"""Read the records of all processes, and put them together by loader."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course_utils.diagnosis.judge.evidence import Loader, Record


def read(folder: Path) -> tuple[list[Record], list[Loader], list[Record]]:
    """Read what all processes wrote.

    Returns:
        The records of main processes in the order of their ranks, their loaders, and all records for a trace.
    """
    mains: list[Record] = []
    loaders: list[Loader] = []
    everything: list[Record] = []
    for path in sorted(folder.glob("main-*.jsonl")):
        pid = path.stem.split("-")[1]
        own = list(_lines(path))
        records = own + [record for other in folder.glob(f"worker-{pid}-*.jsonl") for record in _lines(other)]
        everything += records
        main = next((record for record in own if record["kind"] == "main"), {"kind": "main", "rank": 0})
        mains.append(main)
        loaders += _loaders(records, main)
    mains.sort(key=lambda main: main["rank"])
    return mains, loaders, everything


def _lines(path: Path) -> Iterator[Record]:
    pid = int(path.stem.split("-")[-1])
    for line in path.read_text().splitlines():
        try:
            yield {"pid": pid, **json.loads(line)}
        except ValueError:
            continue  # the last line of a process that was killed


def _loaders(records: list[Record], main: Record) -> list[Loader]:
    epochs = [record for record in records if record["kind"] == "epoch" and record["count"]]
    steps = any(epoch["steps"] for epoch in epochs)
    groups: dict[tuple[Any, ...], list[Record]] = defaultdict(list)
    for epoch in epochs:
        s = epoch["settings"]
        epoch["training"] = bool(epoch["steps"]) if steps else epoch["training"]
        key = (
            s["dataset"],
            s["length"],
            s["batch_size"],
            s["sampler"],
            s["workers"],
            s["replica"],
            epoch["training"],
        )
        groups[key].append(epoch)
    by_epoch: dict[str, dict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if "epoch" in record:
            by_epoch[record["epoch"]][record["kind"]].append(record)
    return [
        _loader(sorted(group, key=lambda e: float(e["begun"])), by_epoch, main) for group in groups.values()
    ]


def _loader(epochs: list[Record], by_epoch: dict[str, dict[str, list[Record]]], main: Record) -> Loader:
    mine: dict[str, list[Record]] = defaultdict(list)
    for epoch in epochs:
        for kind, records in by_epoch[epoch["name"]].items():
            mine[kind] += records
    return Loader(epochs, mine, main)

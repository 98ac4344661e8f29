"""Read the records of all processes, and put them together by loader."""

import json
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

ENTER, WAIT, CPU, READY, LATER, GAP, STEPS, GAP_CPU, OTHERS, COLLECTED, DELAY = range(11)

Record = dict[str, Any]


class Loader:
    """All passes of one script over one loader: epochs, fetches and states, of one main process."""

    def __init__(self, epochs: list[Record], records: dict[str, list[Record]], main: Record) -> None:
        self.epochs, self.main = epochs, main
        self.settings: Record = epochs[-1]["settings"]
        self.training = epochs[0]["training"]
        self.records = records

    def of(self, kind: str) -> list[Record]:
        """Records of a kind that belong to this loader."""
        return self.records.get(kind, [])

    @property
    def workers(self) -> int:
        """Number of workers."""
        return int(self.settings["workers"])

    @property
    def seconds(self) -> float:
        """Time from the start to the end of each pass, in total."""
        return float(sum(epoch["ended"] - epoch["begun"] for epoch in self.epochs))

    @property
    def count(self) -> int:
        """Batches in all passes."""
        return sum(epoch["count"] for epoch in self.epochs)

    def steady_epochs(self) -> list[Record]:
        """Passes after the first, if they are long enough to tell; else all."""
        later = self.epochs[1:]
        return later if sum(len(epoch["rows"]) for epoch in later) >= 16 else self.epochs

    def rows(self) -> list[list[float]]:
        """Steps of the steady passes, without the first of each."""
        return [row for epoch in self.steady_epochs() for row in epoch["rows"][1:]]

    def fetches(self) -> list[Record]:
        """Fetches of the steady passes."""
        names = {epoch["name"] for epoch in self.steady_epochs()}
        mine = self.of("fetch")
        return [fetch for fetch in mine if fetch["epoch"] in names] or mine


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


def mean(values: Iterable[float]) -> float:
    """Mean, 0 of nothing."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def median(values: Iterable[float]) -> float:
    """Median, 0 of nothing."""
    listed = list(values)
    return statistics.median(listed) if listed else 0.0


def quantile(values: Iterable[float], share: float) -> float:
    """A quantile, 0 of nothing."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0


def total(records: Iterable[Record], name: str) -> float:
    """Sum of a field."""
    return sum(record.get(name, 0) or 0 for record in records)

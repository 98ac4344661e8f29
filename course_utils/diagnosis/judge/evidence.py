"""The records of one loader: its passes, steps and fetches."""

import statistics
from collections.abc import Iterable
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
        self.others: list[Loader] = []  # of the same process

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

    def interruptions(self, since: float) -> list[tuple[float, float]]:
        """Passes over loaders that do not train, and checkpoints, from a time on."""
        passes = [epoch for other in self.others if not other.training for epoch in other.epochs]
        spans = [(epoch["begun"], epoch["ended"]) for epoch in passes]
        spans += [(begin, end) for _, begin, end in self.main.get("pauses", [])]
        return [span for span in spans if span[0] >= since]

    def rows(self) -> list[list[float]]:
        """Steps of the steady passes, without the first of each."""
        return [row for epoch in self.steady_epochs() for row in epoch["rows"][1:]]

    def fetches(self) -> list[Record]:
        """Fetches of the steady passes."""
        names = {epoch["name"] for epoch in self.steady_epochs()}
        mine = self.of("fetch")
        return [fetch for fetch in mine if fetch["epoch"] in names] or mine


def mean(values: Iterable[float]) -> float:
    """Mean, 0 of nothing."""
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def median(values: Iterable[float]) -> float:
    """Median, 0 of nothing."""
    listed = list(values)
    return statistics.median(listed) if listed else 0.0


def total(records: Iterable[Record], name: str) -> float:
    """Sum of a field."""
    return sum(record.get(name, 0) or 0 for record in records)


def union(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds that spans cover together."""
    covered, last = 0.0, 0.0
    for begin, end in sorted(spans):
        covered += max(end - max(begin, last), 0.0)
        last = max(last, end)
    return covered

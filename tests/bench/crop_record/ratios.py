"""Ratios in a record of random crops: from the speeds of one round each, so that load spikes cancel out."""

import statistics
from collections.abc import Sequence

from tests.bench.recording.spread import Spread

LIMITS = {
    "limit: crops alone": "what the crops need, resized",
    "limit: what crops need": "what the crops need, decoded",
    "limit: simplejpeg alone": "whole images, decoded",
}
LIMIT = next(iter(LIMITS))
OWN = "FastLoader, crops"


def by_name(record: dict) -> dict[str, dict]:
    """Return all rows of a record, loaders and limits."""
    return {row["loader"]: row for row in record["loaders"]}


def loaders(record: dict, output: str) -> list[dict]:
    """Return the loaders with this output, "uint8" or "float32", the fastest first."""
    found = [row for row in record["loaders"] if row["output"] == output and "limit" not in row["loader"]]
    return sorted(found, key=lambda row: -statistics.median(row["warm"]))


def limits(record: dict) -> dict[str, Spread]:
    """Return the speeds of the limits that were measured; the first one is what ratios refer to."""
    rows = by_name(record)
    return {name: Spread.of(rows[name]["warm"]) for name in LIMITS if name in rows}


def limit_ratio(record: dict, row: dict, column: str) -> Spread:
    """Return a loader's speed, "warm" or "cold", divided by that of the first limit."""
    return _divided(row[column], by_name(record)[next(iter(limits(record)))]["warm"])


def own_ratio(record: dict, output: str, column: str, rival: str = "") -> tuple[str, Spread] | None:
    """Compare the course's loader with another one.

    Args:
        record: What was recorded.
        output: "uint8" or "float32".
        column: "warm" or "cold".
        rival: How the other's name begins; empty for the fastest of all others.

    Returns:
        The other's name, and the speed of the course's loader divided by its speed; None without one of them.
    """
    rows = loaders(record, output)
    own = [row for row in rows if row["loader"].startswith(OWN)]
    others = [row for row in rows if row not in own and row["loader"].startswith(rival)]
    if not own or not others:
        return None
    best = max(others, key=lambda row: statistics.median(row[column]))
    return short_name(best["loader"]), _divided(own[0][column], best[column])


def short_name(loader: str) -> str:
    """Return a loader's name without the work and the output."""
    return loader.removesuffix(", float").removesuffix(", crops")


def _divided(one: Sequence[float], other: Sequence[float]) -> Spread:
    return Spread.of([a / b for a, b in zip(one, other, strict=True)])

"""Draw what a diagnosis measures of one training, as the statement shows it."""

from typing import Literal, NamedTuple, TypedDict

import numpy as np

Part = Literal["cpu", "files", "core"]
Waiting = Literal["much", "just enough", "little", "first epoch"]


class Of(TypedDict):
    """Hashes of orders, one an epoch, of training and validation."""

    train: list[str]
    validation: list[str]


class States(TypedDict):
    """Hashes of generators, by worker and epoch, of training and validation."""

    train: list[list[str]]
    validation: list[list[str]]


class Measured(TypedDict):
    """What is measured of a training, as the statement shows it."""

    workers: int
    cores: int
    samples: int
    read: list[int]
    waiting: list[float]
    load_ms: dict[str, float]
    opens: float
    decoded: float
    orders: Of
    states: States


class Kind(NamedTuple):
    """What is drawn of a training; the defaults are healthy.

    Args:
        workers: Number of workers.
        cores: Number of usable cores.
        epochs: Number of epochs.
        waiting: How much of the epochs the loop waits.
        longest: What takes most of a worker's time.
        opens: Files opened per sample.
        decoded: Pixels decoded per pixel used.
        dropped: Whether the last batch is.
        repeats: How often an epoch reads each sample.
        order: `new` in each epoch, the `same`, or one that `returns` in the last epoch.
        state: `new` everywhere, or shared by `workers`, by `epochs`, or by `both`.
    """

    workers: int = 4
    cores: int = 8
    epochs: int = 3
    waiting: Waiting = "little"
    longest: Part = "cpu"
    opens: float = 0.0
    decoded: float = 1.4
    dropped: bool = False
    repeats: int = 1
    order: str = "new"
    state: str = "new"


def draw_measured(rng: np.random.Generator, kind: Kind) -> Measured:
    """Draw the evidence of a training."""
    samples, batch = int(rng.integers(1000, 9000)), int(rng.integers(20, 60))
    read = (samples - 1) // batch * batch if kind.dropped else samples
    return {
        "workers": kind.workers,
        "cores": kind.cores,
        "samples": samples,
        "read": [read * kind.repeats] * kind.epochs,
        "waiting": _waiting(rng, kind.waiting, kind.epochs),
        "load_ms": _load(rng, kind.longest),
        "opens": kind.opens,
        "decoded": kind.decoded,
        "orders": {
            "train": _orders(rng, kind.order, kind.epochs),
            "validation": _hashes(rng, 1) * kind.epochs,
        },
        "states": {
            "train": _states(rng, kind.state, max(kind.workers, 1), kind.epochs),
            "validation": [_hashes(rng, 1) * kind.epochs],
        },
    }


def _waiting(rng: np.random.Generator, kind: Waiting, epochs: int) -> list[float]:
    low, high = {"much": (0.6, 0.95), "just enough": (0.31, 0.36)}.get(kind, (0.0, 0.1))
    first = [round(float(rng.uniform(0.8, 0.95)), 2)] if kind == "first epoch" else []
    return first + [round(float(share), 2) for share in rng.uniform(low, high, epochs - len(first))]


def _load(rng: np.random.Generator, longest: Part) -> dict[str, float]:
    most, rest = rng.uniform(0.55, 0.9), rng.uniform(0.2, 0.8)
    total = rng.uniform(50, 500)
    shares = iter(((1 - most) * rest, (1 - most) * (1 - rest)))
    return {
        part: round(float(total * (most if part == longest else next(shares))), 1)
        for part in ("cpu", "files", "core")
    }


def _hashes(rng: np.random.Generator, count: int) -> list[str]:
    return [f"{number:06x}" for number in rng.choice(16**6, count, replace=False)]


def _orders(rng: np.random.Generator, order: str, epochs: int) -> list[str]:
    hashes = _hashes(rng, epochs)
    if order == "same":
        return hashes[:1] * epochs
    return [*hashes[:-1], hashes[0]] if order == "returns" else hashes


def _states(rng: np.random.Generator, state: str, workers: int, epochs: int) -> list[list[str]]:
    hashes = np.array(_hashes(rng, workers * epochs)).reshape(workers, epochs)
    if state in ("workers", "both"):
        hashes[:] = hashes[:1]
    if state in ("epochs", "both"):
        hashes[:] = hashes[:, :1]
    return hashes.tolist()

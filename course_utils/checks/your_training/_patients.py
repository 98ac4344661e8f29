"""Trainings to diagnose: ill ones, ill in two ways, and healthy ones that look ill."""

from typing import TypedDict

import numpy as np

from course_utils.checks.your_training._measured import Kind, Measured, Part, Waiting, draw_measured

RESULTS = ("epoch_not_set", "iterable_repeated", "repeated_random_numbers")
LONGEST: dict[str, tuple[Part, ...]] = {
    "no_workers": ("cpu", "files"),
    "fewer_cores": ("core",),
    "file_per_sample": ("files",),
    "decoded_at_full_size": ("cpu",),
}
HEALTHY = "healthy"
NAMES = (*RESULTS, *LONGEST, HEALTHY)


class Case(TypedDict):
    """A training and what it suffers from."""

    cause: str
    measured: Measured


def draw_cases(rng: np.random.Generator) -> list[Case]:
    """Draw trainings in a fixed order of kinds, with numbers at the edges of what the statement allows."""
    kinds = [(HEALTHY, kind) for kind in _healthy(rng)]
    kinds += [
        (cause, _slow(rng, cause, waiting, n))
        for cause in LONGEST
        for waiting in ("just enough", "much")
        for n in range(2)
    ]
    kinds += _wrong_results(rng)
    return [{"cause": cause, "measured": draw_measured(rng, kind)} for cause, kind in kinds]


def _healthy(rng: np.random.Generator) -> list[Kind]:
    cold = [_slow(rng, cause, "first epoch", n, n) for cause in LONGEST for n in (2, 4)]
    computes = [_slow(rng, cause, "little", n, n) for cause in LONGEST for n in (2, 3)]
    return [Kind(), Kind(dropped=True), *cold, *computes]


def _slow(rng: np.random.Generator, cause: str, waiting: Waiting, number: int, epochs: int = 3) -> Kind:
    """Return what makes a training look ill: many workers, files and large pictures beside the cause."""
    workers, cores = int(rng.integers(2, 7)), int(rng.integers(8, 17))
    if cause in ("fewer_cores", "file_per_sample"):
        workers, cores = cores, workers
    return Kind(
        workers=0 if cause == "no_workers" else workers,
        cores=cores,
        epochs=epochs,
        waiting=waiting,
        longest=LONGEST[cause][number % len(LONGEST[cause])],
        opens=1.0,
        decoded=round(float(rng.uniform(*((4.1, 5) if number % 2 else (8, 30)))), 1),
    )


def _wrong_results(rng: np.random.Generator) -> list[tuple[str, Kind]]:
    """Each alone, in each form, and together with a cause of lost time or with another wrong result."""
    order, stream, numbers = RESULTS
    slow = [_slow(rng, cause, "much", 0) for cause in LONGEST]
    return [
        *((order, Kind(order=form)) for form in ("same", "returns")),
        *((stream, Kind(repeats=workers, workers=workers)) for workers in (2, 5)),
        *((numbers, Kind(state=form)) for form in ("workers", "epochs", "both")),
        (numbers, Kind(state="epochs", workers=0)),
        *((order, kind._replace(order="same")) for kind in slow),
        *((stream, kind._replace(repeats=kind.workers)) for kind in slow if kind.workers),
        *((numbers, kind._replace(state="epochs")) for kind in slow),
        (order, Kind(order="same", state="both")),
        (stream, Kind(repeats=4, state="both")),
    ]

"""Check a function that says how large a shuffle buffer must be for a wanted mixing."""

import operator
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import Evidence, Inputs, Truth, type_name
from course_utils.checks.packed_formats._buffer_sizes import Wanted, draw_mixing, expect_sizes


class Found(TypedDict):
    """The size for each wanted mixing; of what is no whole number, its type."""

    sizes: list[int | str]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw the wanted mixings."""
    mixings = [draw_mixing(rng, batch_size) for batch_size in (32, 64, 128, 64)]
    return {"mixings": mixings}, mixings


def probe(inputs: Inputs, buffer_size: Callable[..., Any]) -> Found:
    """Ask for the size that gives each mixing."""
    mixings: list[Wanted] = inputs["mixings"]
    return {"sizes": [_whole(buffer_size(**mixing)) for mixing in mixings]}


def _whole(value: object) -> int | str:
    try:
        return operator.index(value)  # type: ignore[arg-type]  # whatever the student returned
    except TypeError:
        return type_name(value)


def judge(truth: Truth, evidence: Evidence) -> str:
    """Compare with the sizes that give the wanted mixings, and with what each known mistake would give."""
    expect_sizes(truth, evidence["sizes"])
    return "Your sizes give the wanted mixing."

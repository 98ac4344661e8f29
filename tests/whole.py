"""Of tests of one kind: what `make test` runs, and what only `WHOLE=yes make proofs` does."""

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

T = TypeVar("T")
IS_WHOLE = bool(os.environ.get("WHOLE"))
MARKS = [pytest.mark.proof, pytest.mark.whole]


def one_in(step: int, values: Iterable[T], name: Callable[[T], str] = str) -> list[ParameterSet]:
    """Return parameters that are proofs, all but each `step`-th of them for WHOLE=yes only."""
    return [
        pytest.param(value, marks=MARKS if number % step else MARKS[:1], id=name(value))
        for number, value in enumerate(values)
    ]


def few(number: int, values: Iterable[T], name: Callable[[T], str] = str) -> list[ParameterSet]:
    """Return parameters of which the first few run in `make test`; the others are proofs."""
    return [
        pytest.param(value, marks=[] if place < number else MARKS[:1], id=name(value))
        for place, value in enumerate(values)
    ]

"""Shares that are drawn at random, or kept exactly, pass; others are named by what they look like."""

import math

import numpy as np
import pytest

from course_utils.checks.beyond_photographs._mixture.records import LONG, draw_mix
from course_utils.checks.beyond_photographs._mixture.shares import TOLERANCE, WINDOW, expect_shares
from course_utils.checks.core import Mistake

SIZES, WEIGHTS = [50, 170, 4, 2000], [0.45, 0.25, 0.1, 0.2]


def drawn(rng: np.random.Generator, weights: list[float]) -> np.ndarray:
    return rng.choice(len(weights), LONG, p=np.array(weights) / sum(weights))


def test_random_shares_pass():
    rng = np.random.default_rng(0)
    for sources in (3, 4) * 100:
        mix = draw_mix(rng, sources)
        expect_shares(mix["sizes"], mix["weights"], drawn(rng, mix["weights"]))


def test_a_random_share_is_too_far_off_less_often_than_once_in_a_billion():
    """Hoeffding's bound for a window, times all windows of a stream and its sources."""
    assert 2 * math.exp(-2 * WINDOW * TOLERANCE**2) < 1e-12
    assert 2 * math.exp(-2 * WINDOW * TOLERANCE**2) * LONG * 4 < 1e-8


MISTAKES = {
    "by_size": lambda rng: drawn(rng, SIZES),
    "equal_shares": lambda rng: np.arange(LONG) % 4,
    "wrong_shares": lambda rng: drawn(rng, WEIGHTS[::-1]),
    "uneven_windows": lambda rng: np.sort(drawn(rng, WEIGHTS)),
}


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("seed", range(5))
def test_other_shares_are_named(name, seed):
    with pytest.raises(Mistake) as found:
        expect_shares(SIZES, WEIGHTS, MISTAKES[name](np.random.default_rng(seed)))
    assert found.value.name == name


@pytest.mark.parametrize("seed", range(5))
def test_source_that_ends_is_named(seed):
    rng = np.random.default_rng(seed)
    sources = drawn(rng, WEIGHTS)
    left = np.flatnonzero(sources == 0)[SIZES[0] :]
    sources[left] = rng.choice([1, 3], len(left))
    with pytest.raises(Mistake, match=f"Source 0 gives its {SIZES[0]} samples until") as found:
        expect_shares(SIZES, WEIGHTS, sources)
    assert found.value.name == "source_ends"

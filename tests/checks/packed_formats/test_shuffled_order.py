"""The test of draws from a small buffer refuses a right answer less often than once in a billion."""

import math
from collections import Counter

import pytest

from course_utils.checks.packed_formats._shuffled_order import is_likely


def probability(count: int, draws: int, each: float) -> float:
    """Return the probability of a count of the binomial distribution."""
    return math.comb(draws, count) * each**count * (1 - each) ** (draws - count)


@pytest.mark.parametrize("draws", [1, 10, 120, 840])
@pytest.mark.parametrize("choices", [2, 3])
def test_right_answers_are_hardly_ever_refused(draws, choices):
    refused = [count for count in range(draws + 1) if not is_likely(count, draws, 1 / choices)]
    assert sum(probability(count, draws, 1 / choices) for count in refused) < 1e-9 / 40


@pytest.mark.parametrize("choices", [2, 3])
def test_place_that_is_never_drawn_is_noticed_within_120_draws(choices):
    assert not is_likely(0, 120, 1 / choices)


def test_only_choice_is_always_likely():
    assert is_likely(Counter([0] * 50)[0], 50, 1.0)

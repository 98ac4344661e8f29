"""Random orders pass, and orders that follow a rule do not."""

import numpy as np
import pytest

from course_utils.checks.core import Mistake
from course_utils.checks.random_orders import expect_random


@pytest.mark.parametrize("size", [40, 150])
def test_random_orders_pass(size):
    rng = np.random.default_rng(0)
    orders = [rng.permutation(size).tolist() for _ in range(2000)]
    expect_random(orders, orders[1:])


RULES = {
    "turned": lambda rng, size: np.roll(np.arange(size), rng.integers(1, size)),
    "downwards": lambda rng, size: np.arange(size)[::-1],
    "multiples": lambda rng, size: (7 * np.arange(size) + rng.integers(size)) % size,
    "batches": lambda rng, size: rng.permutation(np.arange(size).reshape(-1, 5)).ravel(),
    "pieces": lambda rng, size: np.concatenate([10 * n + rng.permutation(10) for n in range(size // 10)]),
    "half by half": lambda rng, size: np.concatenate([rng.permutation(10), np.arange(10, size)]),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(10))
def test_rules_are_noticed(rule, seed):
    order = RULES[rule](np.random.default_rng(seed), 150).tolist()
    assert sorted(order) == list(range(150))
    with pytest.raises(Mistake):
        expect_random([order], [])


def test_order_that_is_another_one_turned_is_noticed():
    order = np.random.default_rng(0).permutation(150)
    with pytest.raises(Mistake, match="first one, turned"):
        expect_random([order.tolist()], [np.roll(order, 40).tolist()])

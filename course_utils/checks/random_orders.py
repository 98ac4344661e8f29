"""Whether orders of the same numbers look drawn at random, and independently of each other.

Both tests refuse a random order with a probability far below one in a billion.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from course_utils.checks.core import Mistake

MOST_EQUAL_STEPS = 20  # from one number to the next; a random order has some Poisson(1) of each distance
MOST_CORRELATION = 7.0  # standard deviations of the rank correlation of a random order


def expect_random(orders: Sequence[Sequence[int]], again: Sequence[Sequence[int]]) -> None:
    """Check orders of epochs.

    Args:
        orders: Orders of 0 to n - 1.
        again: Those of other epochs or seeds, each with as many numbers as the first of `orders`.

    Raises:
        Mistake: An order follows a rule, or one of `again` follows from the first of `orders` by a rule.
    """
    for order in orders:
        if distance := _usual_distance(order):
            raise Mistake(
                "not_random",
                f"In the order of an epoch of {len(order)} samples, number follows number at a distance of "
                f"{distance} again and again, as in {', '.join(map(str, order[:6]))}. Turning or cutting the "
                "list does not shuffle it: draw a permutation.",
            )
        if _is_correlated(order):
            raise Mistake(
                "not_random",
                f"In the order of an epoch of {len(order)} samples, small numbers come at one end and large "
                f"ones at the other: {', '.join(map(str, order[:6]))}, ... Shuffle all numbers at once, not "
                "pieces of the list.",
            )
    places = {number: place for place, number in enumerate(orders[0])}
    for order in again:
        if _usual_distance([places[number] for number in order]):
            raise Mistake(
                "orders_are_related",
                "The order of another epoch, or with another seed, is the first one, turned or cut: most "
                "samples follow the same ones again. Draw a new permutation from the seed and the epoch.",
            )


def _usual_distance(order: Sequence[int]) -> int:
    """Return the distance, counted around, that too many neighbours have; 0 if there is none."""
    size = len(order)
    distances = Counter((after - before) % size for before, after in pairwise(order))
    distance, count = distances.most_common(1)[0]
    return distance if count > MOST_EQUAL_STEPS else 0


def _is_correlated(order: Sequence[int]) -> bool:
    size, middle = len(order), (len(order) - 1) / 2
    products = sum((place - middle) * (number - middle) for place, number in enumerate(order))
    return abs(products) / (size * (size**2 - 1) / 12) > MOST_CORRELATION / math.sqrt(size - 1)

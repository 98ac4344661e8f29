"""The stream of a mixture on one rank: pairs, shares, and the orders of its sources."""

from collections.abc import Sequence

import numpy as np

from course_utils.checks.beyond_photographs._mixture.records import NOT_A_NUMBER, Mix, Read
from course_utils.checks.beyond_photographs._mixture.shares import expect_shares
from course_utils.checks.core import Attempt, Messages, Mistake, is_unsolved
from course_utils.checks.random_orders import expect_random

mistake = Messages(__name__)

SMALL = 0  # the source whose orders are compared


def expect_form(mix: Mix, found: Read, count: int) -> None:
    """Check that a stream, or a rank's part of it, consists of pairs and does not end.

    Args:
        mix: The mixture.
        found: What was read.
        count: How many samples were asked for.

    Raises:
        Mistake: It ends, or yields something else.
    """
    pairs, problem = found["pairs"].reshape(-1, 2), found["problem"]
    is_pair = (pairs != NOT_A_NUMBER).all()
    mistake.raise_first({"not_pairs": problem or not is_pair}, problem=problem or "yields other things")
    sources = len(mix["sizes"])
    known = np.where((pairs[:, 0] >= 0) & (pairs[:, 0] < sources), pairs[:, 0], sources)
    limits = np.array([*mix["sizes"], 0])
    foreign = pairs[(pairs[:, 1] < 0) | (pairs[:, 1] >= limits[known])].tolist()
    mistake.raise_first(
        {"no_such_sample": foreign, "stream_ends": len(pairs) < count},
        sample=tuple(foreign[0]) if foreign else (),
        sizes=mix["sizes"],
        count=len(pairs),
    )


def expect_stream(mix: Mix, found: Read) -> None:
    """Check the shares of the sources, and the orders in which they give their samples.

    Raises:
        Mistake: A share is wrong, or a source repeats, keeps or turns an order.
    """
    pairs = found["pairs"]
    expect_shares(mix["sizes"], mix["weights"], pairs[:, 0])
    source, others_complete = _first_repeated(mix["sizes"], pairs)
    mistake.raise_first(
        {
            "others_begin_again": source is not None and others_complete,
            "repeats_too_early": source is not None,
        },
        source=source,
        size=mix["sizes"][source or 0],
    )
    laps = [_laps(pairs, source, mix["sizes"][source]) for source in (SMALL, 1)]
    first, second = laps[SMALL][:2]
    values = {"source": SMALL, "size": mix["sizes"][SMALL], "some": ", ".join(map(str, first[:6]))}
    mistake.raise_first(
        {"not_shuffled": first == sorted(first), "same_order_again": first == second}, **values
    )
    _expect_random([first, second, laps[1][0]], [second], values)


def expect_own_generators(changed: Sequence[str]) -> None:
    """Check that no global generator changed, given the names of those that did.

    Raises:
        Mistake: One did.
    """
    mistake.raise_first({"global_generator": changed}, changed=", ".join(changed))


def expect_seeded(mix: Mix, found: Read, reseeded: Read) -> None:
    """Check that another seed gives another order.

    Raises:
        Mistake: It gives the same one, or one that follows from it.
    """
    orders = [_laps(one["pairs"], SMALL, mix["sizes"][SMALL])[0] for one in (found, reseeded)]
    mistake.raise_first({"ignores_seed": orders[0] == orders[1]})
    _expect_random([orders[0]], [orders[1]], {"source": SMALL, "size": mix["sizes"][SMALL], "some": ""})


def expect_same(mix: Mix, found: Read, again: Read, in_turns: Attempt) -> None:
    """Check that a new mixture with the same arguments gives the same stream, also beside another one.

    Raises:
        Mistake: It does not.
    """
    same = np.array_equal(found["pairs"][: len(again["pairs"])], again["pairs"])
    mistake.raise_first({"not_reproducible": not same}, seed=mix["seed"])
    error = in_turns.get("error", "")
    beside = [] if error else in_turns["value"][0]["pairs"]
    mistake.raise_first(
        {"shares_state": not is_unsolved(error) and not np.array_equal(beside, found["pairs"])}
    )


def _first_repeated(sizes: Sequence[int], pairs: np.ndarray) -> tuple[int | None, bool]:
    """Return the source that is the first to repeat a sample too early, and whether others were complete."""
    given: list[set[int]] = [set() for _ in sizes]
    complete = set[int]()
    for source, number in pairs.tolist():
        if number in given[source]:
            return source, bool(complete - {source})
        given[source].add(number)
        if len(given[source]) == sizes[source]:
            complete.add(source)
            given[source].clear()
    return None, False


def _laps(pairs: np.ndarray, source: int, size: int) -> list[list[int]]:
    """Return the numbers that a source gave, cut where each of its samples should have been given."""
    numbers = pairs[pairs[:, 0] == source, 1].tolist()
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def _expect_random(orders: list[list[int]], again: list[list[int]], values: dict[str, object]) -> None:
    try:
        expect_random(orders, again)
    except Mistake as found:
        is_rule = found.name == "not_random"
        mistake.raise_first({"not_random": is_rule, "orders_are_related": not is_rule}, **values)

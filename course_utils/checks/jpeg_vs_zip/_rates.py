"""The verdict on the rate of a cold epoch, and on the rate of warm ones."""

from collections.abc import Callable
from math import isclose
from statistics import fmean, median
from typing import TypedDict

from course_utils.checks.core import Mistake


class EpochRecord(TypedDict):
    """One epoch of a benchmark's result: `seconds` of it were waited for the `first` batch."""

    number: int
    seconds: float
    first: float
    images: int


def warm_epochs(epochs: list[EpochRecord]) -> list[EpochRecord]:
    """Return the warm epochs; with ``repeats`` each repeat has a first epoch of its own."""
    return [epoch for epoch in epochs if epoch["number"] > 0]


def _expect_number(rate: float | str) -> float:
    if isinstance(rate, str):
        raise Mistake("rate_no_number", f"A rate that you return is of type {rate}; return a number.")
    return rate


def expect_cold_rate(rate: float | str, epochs: list[EpochRecord], batch_size: int) -> None:
    """Check the rate of the first epoch; of a rate that is no number, `rate` is the name of its type.

    Raises:
        Mistake: It is another rate; the message says which, where that is known.
    """
    rate = _expect_number(rate)
    first, later = [epoch for epoch in epochs if epoch["number"] == 0], warm_epochs(epochs)
    if _is_one_of(rate, _rates(first)):
        return
    _expect_images_per_second(rate, first, batch_size)
    if _is_one_of(rate, _rates(later)):
        raise Mistake(
            "swapped",
            "The cold rate that you return is that of a later epoch, not of the first. Return the result, "
            "the cold rate and the warm rate, in this order.",
        )
    if _is_one_of(rate, _rates(epochs)):
        raise Mistake("cold_in_the_mean", "Your cold rate mixes all epochs; cold is the first epoch alone.")
    raise Mistake(
        "other_rate",
        "Your cold rate is not images divided by seconds of the first epoch in the result. (A clock of your "
        "own would also measure what happens around the epochs.)",
    )


def expect_warm_rate(rate: float | str, epochs: list[EpochRecord], batch_size: int) -> None:
    """Check the rate of the later epochs, as `expect_cold_rate` does that of the first."""
    rate = _expect_number(rate)
    later = warm_epochs(epochs)
    if _is_one_of(rate, _rates(later)):
        return
    single = [epoch["number"] for epoch in later if _is_one_of(rate, _rates([epoch]))]
    if single and _is_one_of(rate, _rates(epochs)):
        raise Mistake(
            "a_single_epoch",
            f"Your warm rate is that of epoch {single[0]} alone, or the median of all {len(epochs)} epochs: "
            "take all epochs after number 0.",
        )
    if _is_one_of(rate, _rates(epochs)):
        raise Mistake(
            "cold_in_the_mean",
            "Your warm rate includes the first epoch, which started the workers and filled the cache: a mean "
            "over cold and warm epochs describes neither. Leave epochs with number 0 out.",
        )
    _expect_images_per_second(rate, later, batch_size)
    if any(_is_one_of(rate, _rates([epoch])) for epoch in epochs):
        raise Mistake(
            "a_single_epoch",
            "Your warm rate is that of a single epoch; use all later ones (their median or their total).",
        )
    raise Mistake(
        "other_rate",
        "Your warm rate is not images per second of the epochs after the first in the result. (A clock of "
        "your own would also measure what happens around the epochs.)",
    )


def _rates(
    epochs: list[EpochRecord], amount: Callable[[EpochRecord], float] = lambda e: e["images"]
) -> list[float]:
    """Return every valid way to summarise epochs as one rate: of totals, medians and means."""
    amounts, seconds = [amount(e) for e in epochs], [e["seconds"] for e in epochs]
    each = [amount / time for amount, time in zip(amounts, seconds, strict=True)]
    return [sum(amounts) / sum(seconds), median(each), fmean(each), median(amounts) / median(seconds)]


def _expect_images_per_second(rate: float, epochs: list[EpochRecord], batch_size: int) -> None:
    if any(rate == round(right, digits) for right in _rates(epochs) for digits in range(7)):
        raise Mistake("rounded", "Your rate is rounded: return it as it is, and round what you print.")
    if _is_one_of(rate, [batch_size * wrong for wrong in _batch_rates(epochs, batch_size)]):
        raise Mistake(
            "counts_full_batches",
            "Your rate counts batch_size images for every batch, or leaves the last one out, which has "
            "fewer: an epoch has epoch.images images.",
        )
    if _is_one_of(rate, _batch_rates(epochs, batch_size)):
        raise Mistake(
            "batches_per_second", "Your rate is in batches per second; an epoch has len(dataset) images."
        )
    inverse = [1 / rate for rate in _rates(epochs)]
    if _is_one_of(rate, inverse) or _is_one_of(rate, [1000 * time for time in inverse]):
        raise Mistake("time_per_image", "You return the time per image; return images per second.")
    after_first: list[EpochRecord] = [{**e, "seconds": e["seconds"] - e["first"]} for e in epochs]
    if _is_one_of(rate, _rates(after_first)):
        raise Mistake(
            "first_batch_left_out",
            "Your time starts after the first batch, but waiting for that batch is the cost of a cold start. "
            "Include it.",
        )


def _batch_rates(epochs: list[EpochRecord], batch_size: int) -> list[float]:
    """Return the rates in batches per second, without the short last batch and with it."""
    return [
        *_rates(epochs, lambda e: e["images"] // batch_size),
        *_rates(epochs, lambda e: -(-e["images"] // batch_size)),
    ]


def _is_one_of(rate: float, rates: list[float]) -> bool:
    return any(isclose(rate, other, rel_tol=1e-9) for other in rates)

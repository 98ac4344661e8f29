"""The verdict on the rate of a cold epoch, and on the rate of warm ones."""

from collections.abc import Callable
from math import isclose
from statistics import fmean, median
from typing import TypedDict

from course_utils.checks.core import Messages

mistake = Messages(__name__)


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
        raise mistake("rate_no_number", rate=rate)
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
    mixed = _is_one_of(rate, _rates(epochs))
    swapped = _is_one_of(rate, _rates(later))
    mistake.raise_first({"swapped": swapped, "cold_in_the_mean.cold": mixed, "other_rate.cold": True})


def expect_warm_rate(rate: float | str, epochs: list[EpochRecord], batch_size: int) -> None:
    """Check the rate of the later epochs, as `expect_cold_rate` does that of the first."""
    rate = _expect_number(rate)
    later, mixed = warm_epochs(epochs), _is_one_of(rate, _rates(epochs))
    if _is_one_of(rate, _rates(later)):
        return
    single = [epoch["number"] for epoch in epochs if _is_one_of(rate, _rates([epoch]))]
    warm = [number for number in single if number > 0]
    mistakes = {"a_single_epoch.or_median": warm and mixed, "cold_in_the_mean.warm": mixed}
    mistake.raise_first(mistakes, single=warm, epochs_count=len(epochs))
    _expect_images_per_second(rate, later, batch_size)
    mistake.raise_first({"a_single_epoch.alone": single, "other_rate.warm": True})


def _rates(
    epochs: list[EpochRecord], amount: Callable[[EpochRecord], float] = lambda e: e["images"]
) -> list[float]:
    """Return every valid way to summarise epochs as one rate: of totals, medians and means."""
    amounts, seconds = [amount(e) for e in epochs], [e["seconds"] for e in epochs]
    each = [amount / time for amount, time in zip(amounts, seconds, strict=True)]
    return [sum(amounts) / sum(seconds), median(each), fmean(each), median(amounts) / median(seconds)]


def _expect_images_per_second(rate: float, epochs: list[EpochRecord], batch_size: int) -> None:
    right, inverse = _rates(epochs), [1 / rate for rate in _rates(epochs)]
    batches = [  # in batches per second, without the short last batch and with it
        *_rates(epochs, lambda e: e["images"] // batch_size),
        *_rates(epochs, lambda e: -(-e["images"] // batch_size)),
    ]
    after_first: list[EpochRecord] = [{**e, "seconds": e["seconds"] - e["first"]} for e in epochs]
    mistake.raise_first(
        {
            "rounded": any(rate == round(one, digits) for one in right for digits in range(7)),
            "counts_full_batches": _is_one_of(rate, [batch_size * wrong for wrong in batches]),
            "batches_per_second": _is_one_of(rate, batches),
            "time_per_image": _is_one_of(rate, [*inverse, *(1000 * time for time in inverse)]),
            "first_batch_left_out": _is_one_of(rate, _rates(after_first)),
        }
    )


def _is_one_of(rate: float, rates: list[float]) -> bool:
    return any(isclose(rate, other, rel_tol=1e-9) for other in rates)

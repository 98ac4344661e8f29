"""Summaries of benchmark results; first and later epochs never enter the same median."""

import torch

from course_utils.measure.results import BenchmarkResult, Epoch, Summary
from course_utils.storage.page_cache import CacheState

COLD, WARM = CacheState(1000, 0), CacheState(1000, 1000)


def result(*seconds, first=0):
    epochs = [Epoch(i, s, s / 4, 100, 2000, WARM if i else COLD) for i, s in enumerate(seconds, first)]
    return BenchmarkResult("zip", tuple(epochs), WARM, torch.device("cpu"))


def test_later_epochs_are_typical_and_repeats_are_merged():
    both = result(9.0, 1.0, 2.0).merge(result(8.0, 4.0, 5.0))
    assert both.first == Summary(8.5, 8.0, 9.0, 2)
    assert both.seconds == Summary(3.0, 1.0, 5.0, 4)
    assert both.epoch_seconds == [9.0, 1.0, 2.0, 8.0, 4.0, 5.0]


def test_single_epoch_is_first_and_typical():
    one = result(2.0)
    assert one.seconds == one.first == Summary(2.0, 2.0, 2.0, 1)
    assert (one.images_per_second, one.images, one.nbytes) == (50.0, 100, 2000)


def test_warm_start_has_no_first_epoch():
    assert result(2.0, 4.0, first=1).first is None


def test_repr_shows_kind_range_and_cache():
    assert repr(result(8.0, 2.0, 1.0)) == (
        "zip: 75 images/s on cpu; 1.500 s per later epoch (1.000 to 2.000 s, 2 epochs of 100 images); "
        "first batch after 0.375 s; page cache 0 % before, 100 % after"
    )

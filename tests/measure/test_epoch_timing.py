"""``course_utils.measure.epoch_timing``, with a made clock that counts its readings."""

import itertools

import pytest
import torch

from course_utils.measure import epoch_timing
from course_utils.measure.epoch_timing import time_epoch

CPU = torch.device("cpu")


@pytest.fixture
def ticks(monkeypatch):
    """A clock that goes one second further at each reading: start, first batch, end."""
    clock = itertools.count()
    monkeypatch.setattr(epoch_timing, "perf_counter", lambda: float(next(clock)))


def batches(count):
    return [[torch.zeros(4, 3, dtype=torch.uint8), torch.zeros(4, dtype=torch.int64)] for _ in range(count)]


def test_an_epoch_goes_on_after_its_first_batch(ticks):
    epoch = time_epoch(batches(3), 0, CPU)
    assert (epoch.first_batch_seconds, epoch.seconds) == (1.0, 2.0)


def test_images_and_bytes_of_all_tensors_are_counted():
    epoch = time_epoch(batches(3), 5, CPU)
    assert (epoch.number, epoch.images, epoch.nbytes) == (5, 12, 3 * (12 + 32))


def test_batches_may_be_nested():
    batch = {"image": [torch.zeros(2, 5)], "meta": ({"label": torch.zeros(2)}, ["a", "b"])}
    assert time_epoch([batch], 0, CPU).nbytes == 4 * 12


def test_an_accelerator_is_waited_for_once(monkeypatch):
    waits = []
    monkeypatch.setattr(torch.accelerator, "synchronize", waits.append)
    time_epoch(batches(3), 0, torch.device("meta"))
    assert waits == [torch.device("meta")]


def test_an_empty_loader_is_an_error():
    with pytest.raises(ValueError, match="list gave no batch in epoch 1"):
        time_epoch([], 1, CPU)

import pytest
import torch
from torch.utils.data import DataLoader

from course_utils.data.synthetic import SyntheticImageDataset
from course_utils.measure import cached_replay as module
from course_utils.measure.cached_replay import Headroom, headroom


class FakeTime:
    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def fake_time(monkeypatch):
    fake = FakeTime()
    monkeypatch.setattr(module, "time", fake)
    return fake


def slow_loader(fake_time, seconds, batches=6):
    class Loader:
        def __iter__(self):
            for number in range(batches):
                fake_time.now += seconds
                yield torch.tensor([number]), torch.tensor([0])

    return Loader()


def test_factor_is_the_speed_up_of_free_loading(fake_time):
    def step(images, labels):
        fake_time.now += 2.0

    result = headroom(slow_loader(fake_time, 3.0), step, "cpu", num_batches=4)
    assert (result.loading, result.cached, result.factor) == (5.0, 2.0, 2.5)


def test_prefetched_batches_are_left_out_and_all_workers_are_timed_several_rounds(fake_time):
    class TenWorkers:
        """A loader whose first 20 batches are prefetched; later ones arrive in rounds of ten."""

        num_workers, prefetch_factor = 10, 2

        def __iter__(self):
            for number in range(60):
                fake_time.now += 50.0 if number >= 20 and number % 10 == 0 else 0.0
                yield torch.tensor([number]), torch.tensor([0])

    def step(images, labels):
        fake_time.now += 1.0

    result = headroom(TenWorkers(), step, "cpu", num_batches=20)
    assert (result.loading, result.cached) == (6.0, 1.0)


def test_too_short_loader_raises_before_any_step():
    loader = DataLoader(SyntheticImageDataset(10, 4), batch_size=2, num_workers=2)
    with pytest.raises(ValueError, match=r"too few batches \(5\): 6 \+ 6 are needed"):
        headroom(loader, lambda *batch: pytest.fail("trained"), "cpu", num_batches=1)


def test_too_short_loader_raises(fake_time):
    with pytest.raises(ValueError, match="2 \\+ 9 are needed"):
        headroom(slow_loader(fake_time, 1.0), lambda *batch: None, "cpu", num_batches=9)
    with pytest.raises(ValueError, match="empty"):
        headroom([], lambda *batch: None, "cpu", num_batches=1)


def test_sentence_names_bottleneck_times_and_device():
    slow = Headroom(0.050, 0.020, "cpu").sentence
    assert slow.startswith(
        "Loading is the bottleneck (50.0 ms a step with the loader, 20.0 ms without, on cpu)"
    )
    assert slow.endswith("2.5 times as fast.")
    assert Headroom(0.021, 0.020, "cpu").sentence.startswith("Loading is hidden")


def test_dataloader_batches_reach_the_step():
    seen = []
    loader = DataLoader(SyntheticImageDataset(10, 4), batch_size=2)
    headroom(loader, lambda images, labels: seen.append(labels.tolist()), "cpu", num_batches=3)
    assert seen == 5 * [[0, 1]] + [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]


@pytest.mark.parametrize(
    "numbers", [{"num_batches": -1}, {"num_batches": 0}, {"num_batches": 2, "warm_up": -1}]
)
def test_numbers_out_of_range_raise(fake_time, numbers):
    with pytest.raises(ValueError, match="at least 1 and 0"):
        headroom(slow_loader(fake_time, 1.0), lambda *batch: None, "cpu", **numbers)


@pytest.mark.parametrize("batch", [torch.zeros(4, 3), {"images": torch.zeros(4)}, ["a"], "ab"])
def test_batch_that_is_no_sequence_of_tensors_raises(batch):
    with pytest.raises(ValueError, match=f"batches of type {type(batch).__name__}"):
        headroom([batch] * 9, lambda *batch: None, "cpu", num_batches=2)

import weakref

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from course_utils.data.synthetic import SyntheticImageDataset
from course_utils.training import step_timing
from course_utils.training.simple_cnn import SimpleCNN
from course_utils.training.step_timing import train_with_monitoring

KEYS = ("data_loading", "cpu_to_gpu", "forward_backward", "total_batch")


def monitored(num_batches, device="cpu", **options):
    model = SimpleCNN(10, width=4).to(device)
    loader = DataLoader(SyntheticImageDataset(24, 16), batch_size=8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return train_with_monitoring(
        model, loader, nn.CrossEntropyLoss(), optimizer, device, num_batches, **options
    )


@pytest.mark.parametrize("breakdown", [False, True])
def test_each_stage_has_one_time_per_batch(breakdown):
    times = monitored(2, breakdown=breakdown)
    assert {key: len(values) for key, values in times.items()} == dict.fromkeys(KEYS, 2)


def test_short_loader_gives_fewer_batches():
    assert len(monitored(10)["total_batch"]) == 3
    assert monitored(0) == {key: [] for key in KEYS}


def test_total_includes_loading_copy_and_computation(monkeypatch):
    ticks = iter(range(100))
    monkeypatch.setattr(step_timing.time, "perf_counter", lambda: next(ticks) / 1000)
    times = monitored(2)
    for parts in zip(*(times[key] for key in KEYS), strict=True):
        assert parts[3] >= sum(parts[:3])
    assert sum(times["total_batch"]) == pytest.approx(7)


def test_batch_is_freed_before_the_next_one_is_copied():
    """Otherwise `cpu_to_gpu` contains the time to free it, on a CPU nothing else."""
    alive = []

    def batch():
        made = torch.zeros(2, 3, 16, 16), torch.zeros(2, dtype=torch.int64)
        alive.append(weakref.ref(made[0]))
        return made

    def loader():
        for _ in range(3):
            assert not any(reference() is not None for reference in alive)
            yield batch()

    model = SimpleCNN(10, width=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_with_monitoring(model, loader(), nn.CrossEntropyLoss(), optimizer, "cpu", 3)
    assert len(alive) == 3


def test_training_changes_the_parameters():
    model = SimpleCNN(10, width=4)
    before = [p.clone() for p in model.parameters()]
    loader = DataLoader(SyntheticImageDataset(8, 16), batch_size=8)
    train_with_monitoring(
        model, loader, nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.1), "cpu", 1
    )
    assert any(not torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
@pytest.mark.parametrize("breakdown", [False, True])
def test_gpu_times_are_positive(breakdown):
    times = monitored(3, device="cuda", breakdown=breakdown)
    assert {key: len(values) for key, values in times.items()} == dict.fromkeys(KEYS, 3)
    assert all(value > 0 for values in times.values() for value in values)

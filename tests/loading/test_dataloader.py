"""``course_utils.loading.dataloader``: settings that go together, and silence about workers."""

import os

import pytest
import torch
from torch.utils.data import Dataset

from course_utils.loading import dataloader
from course_utils.loading.dataloader import dataloader_kwargs, make_loader


class WhoAmI(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, os.getpid()


def test_without_workers_nothing_is_kept_or_prefetched():
    kwargs = dataloader_kwargs(0, persistent_workers=True, prefetch_factor=4, start_method="fork")
    assert kwargs == {"num_workers": 0}


def test_with_workers_everything_is_passed_on():
    kwargs = dataloader_kwargs(2, persistent_workers=True, prefetch_factor=4, start_method="fork")
    assert kwargs == {
        "num_workers": 2,
        "persistent_workers": True,
        "prefetch_factor": 4,
        "multiprocessing_context": "fork",
    }


@pytest.mark.parametrize("present", [True, False])
def test_memory_is_pinned_only_for_an_accelerator(monkeypatch, present):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: present)
    assert ("pin_memory" in dataloader_kwargs(0, pin_memory=True)) == present


def test_more_workers_than_cores_run_without_a_warning(monkeypatch):
    monkeypatch.setattr(torch._utils, "cpu_count", lambda: 2)
    loader = make_loader(WhoAmI(), batch_size=2, num_workers=8)
    pids = {int(pid) for _, batch in loader for pid in batch}
    assert len(pids) == 8
    assert os.getpid() not in pids


def test_the_seed_gives_the_order():
    def order(seed):
        return [
            index
            for batch, _ in make_loader(WhoAmI(), 4, shuffle=True, seed=seed)
            for index in batch.tolist()
        ]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == list(range(16))


def test_device_without_an_accelerator_is_the_cpu(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    assert dataloader.accelerator_or_cpu() == torch.device("cpu")

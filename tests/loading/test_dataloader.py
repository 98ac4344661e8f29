import os

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset

from course_utils.loading.dataloader import dataloader_kwargs, make_loader


class WorkerIds(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return index, os.getpid()


def test_settings_of_workers_are_dropped_without_workers():
    kwargs = dataloader_kwargs(0, persistent_workers=True, prefetch_factor=4, start_method="fork")
    assert kwargs == {"num_workers": 0}


def test_settings_of_workers_are_kept_with_workers():
    kwargs = dataloader_kwargs(2, persistent_workers=True, prefetch_factor=4, start_method="fork")
    assert kwargs == {
        "num_workers": 2,
        "persistent_workers": True,
        "prefetch_factor": 4,
        "multiprocessing_context": "fork",
    }


@pytest.mark.parametrize("present", [True, False])
def test_memory_is_pinned_only_with_accelerator(monkeypatch, present):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: present)
    assert ("pin_memory" in dataloader_kwargs(0, pin_memory=True)) == present


def test_more_workers_than_cores_start_without_warning(monkeypatch):
    monkeypatch.setattr(torch._utils, "cpu_count", lambda: 2)
    loader = make_loader(WorkerIds(), batch_size=2, num_workers=8)
    pids = {int(pid) for _, batch in loader for pid in batch}
    assert len(pids) == 8
    assert os.getpid() not in pids


def test_seed_determines_order():
    def order(seed):
        return [
            index
            for batch, _ in make_loader(WorkerIds(), 4, shuffle=True, seed=seed)
            for index in batch.tolist()
        ]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == list(range(16))


def test_numbers_of_numpy_are_those_of_python_and_others_are_rejected():
    def batches(**numbers):
        return [batch.tolist() for batch, _ in make_loader(WorkerIds(), shuffle=True, **numbers)]

    assert batches(batch_size=np.int64(4), seed=np.uint8(3)) == batches(batch_size=4, seed=3)
    for wrong in ({"batch_size": 4.0}, {"batch_size": 4, "seed": float("nan")}):
        with pytest.raises(TypeError, match="it must be an integer"):
            batches(**wrong)

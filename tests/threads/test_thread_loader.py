"""Batches loaded by threads come in order, as many in flight as announced, and errors reach the loop."""

import threading

import pytest
import torch
from torch.utils.data import Dataset

from course_utils.threads import ThreadLoader

BATCHES = [[3 * number, 3 * number + 1, 3 * number + 2] for number in range(20)]


class Numbers(Dataset):
    def __init__(self) -> None:
        self.threads: set[int] = set()
        self.asked: list[int] = []

    def __getitem__(self, index: int) -> torch.Tensor:
        self.threads.add(threading.get_ident())
        self.asked.append(index)
        if index == 100:
            raise ValueError("sample 100")
        return torch.tensor(index)


@pytest.mark.parametrize("threads", [1, 4])
def test_batches_come_in_order(threads: int):
    loader = ThreadLoader(Numbers(), BATCHES, threads)
    assert [batch.tolist() for batch in loader] == BATCHES
    assert [batch.tolist() for batch in loader] == BATCHES  # and again
    assert len(loader) == len(BATCHES)


def test_samples_are_loaded_by_other_threads_and_few_in_advance():
    dataset = Numbers()
    iterator = iter(ThreadLoader(dataset, BATCHES, 2))
    assert not dataset.asked
    next(iterator)
    iterator.close()
    assert threading.get_ident() not in dataset.threads
    assert len(dataset.asked) <= 3 * 5


def test_errors_reach_the_loop():
    with pytest.raises(ValueError, match="sample 100"):
        list(ThreadLoader(Numbers(), [[1], [100], [2]], 2))


def test_no_threads_are_refused():
    with pytest.raises(ValueError, match="at least one thread"):
        ThreadLoader(Numbers(), BATCHES, 0)

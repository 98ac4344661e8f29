"""A training with 1,000 samples a second from two workers, which prints what its epochs cost."""

import json
import multiprocessing
import os
import time
from itertools import pairwise

import torch
from torch.utils.data import DataLoader, Dataset

EPOCHS, SAMPLES, BATCH_SIZE, SAMPLE = 4, 2_000, 32, 2e-3
CLOCK_OF_PROCESS = 2  # CPUCLOCK_SCHED: the time on cores of all threads of a process


class TimedSamples(Dataset):
    """Samples that keep a core busy for 2 ms."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        end = time.thread_time() + SAMPLE
        while time.thread_time() < end:
            pass
        return torch.zeros(3, 32, 32), index


def cpu_seconds() -> float:
    """Time on cores of this process and of its workers, all threads and the kernel's work included."""
    pids = [os.getpid(), *(child.pid for child in multiprocessing.active_children() if child.pid)]
    return sum(time.clock_gettime(~pid << 3 | CLOCK_OF_PROCESS) for pid in pids)


def main() -> None:
    """Train, and print seconds on the wall and on cores of each epoch after the first."""
    torch.set_num_threads(1)
    loader = DataLoader(TimedSamples(), BATCH_SIZE, num_workers=2, persistent_workers=True)
    model = torch.nn.Linear(3072, 2)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    times = []
    for _ in range(EPOCHS):
        for images, _labels in loader:
            model(images.flatten(1)).sum().backward()
            optimizer.step()
        times.append((time.perf_counter(), cpu_seconds()))
    print(json.dumps([[after[0] - before[0], after[1] - before[1]] for before, after in pairwise(times)]))


if __name__ == "__main__":
    main()

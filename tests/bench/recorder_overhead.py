"""Overhead of the recorder: `python -m tests.bench.recorder_overhead`. Target: below 2 % of a 10 ms step."""

import statistics
import time
from itertools import pairwise

import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.pipeline import Recorder

STEP, BATCHES, BATCH_SIZE, REPEATS = 10e-3, 60, 64, 5


class FreeSamples(Dataset):
    """Samples that take no time to load, which leaves the loader and the recorder."""

    image = torch.zeros(3, 16, 16)

    def __len__(self) -> int:
        return (BATCHES + 10) * BATCH_SIZE

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.image, index


def step_seconds(workers: int, recorded: bool) -> float:
    """Return the median seconds of a step that sleeps for 10 ms."""
    loader = DataLoader(FreeSamples(), BATCH_SIZE, num_workers=workers)
    ends = []
    for _ in Recorder(loader).batches(BATCHES) if recorded else loader:
        time.sleep(STEP)
        ends.append(time.perf_counter())
    return statistics.median(b - a for a, b in pairwise(ends))


def main() -> None:
    """Print the step time without and with the recorder, from interleaved runs."""
    for workers in (0, 1, 2):
        pairs = [(step_seconds(workers, False), step_seconds(workers, True)) for _ in range(REPEATS)]
        plain, recorded = (statistics.median(times) for times in zip(*pairs, strict=True))
        extra = 1e6 * (recorded - plain)
        print(f"{workers} workers: {1e3 * plain:.3f} ms plain, {1e3 * recorded:.3f} ms recorded, ", end="")
        print(
            f"{extra:+.0f} µs = {100 * extra / (1e6 * STEP):+.2f} % of 10 ms ({REPEATS} interleaved repeats)"
        )


if __name__ == "__main__":
    main()

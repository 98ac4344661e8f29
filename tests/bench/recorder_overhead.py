"""What the recorder costs a step: `python -m tests.bench.recorder_overhead`. Aim: below 2 % of 10 ms."""

import statistics
import time
from itertools import pairwise

import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.pipeline import Recorder

STEP, BATCHES, BATCH_SIZE, REPEATS = 10e-3, 60, 64, 5


class Ready(Dataset):
    """Samples that cost nothing, so that all that is left is the loader and the recorder."""

    image = torch.zeros(3, 16, 16)

    def __len__(self) -> int:
        return (BATCHES + 10) * BATCH_SIZE

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.image, index


def step_seconds(workers: int, recorded: bool) -> float:
    """Median time of a step that sleeps for 10 ms."""
    loader = DataLoader(Ready(), BATCH_SIZE, num_workers=workers)
    ends = []
    for _ in Recorder(loader).batches(BATCHES) if recorded else loader:
        time.sleep(STEP)
        ends.append(time.perf_counter())
    return statistics.median(b - a for a, b in pairwise(ends))


def main() -> None:
    """Print the step time without and with the recorder, in turn."""
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

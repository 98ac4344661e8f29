"""Compare the pipeline model with a real DataLoader: `python -m tests.bench.pipeline_model`.

Stages sleep, so that they hardly need a core; the last 2 ms of each are a busy wait, because sleeping
processes wake up late. On a busy machine stages take longer all the same, so the model predicts twice: from
the requested times, and from the times of each stage that were recorded in the same run. Target on an idle
machine: within 5 % of the measurement for 0, 1 and 2 workers.
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.pipeline import Pipeline, Recorder, Run, StageTimes, simulate

MS = 1e-3
BUSY_WAIT = 2 * MS
BATCHES, BATCH_SIZE, SKIP, REPEATS = 40, 4, 8, 3
CASES = {
    "loading is slower": StageTimes(decode=40 * MS, compute=15 * MS),
    "computing is slower": StageTimes(decode=20 * MS, compute=30 * MS),
    "every fourth batch is slow": StageTimes(decode=[60 * MS, 12 * MS, 12 * MS, 12 * MS], compute=20 * MS),
}


def pause(seconds: float) -> None:
    """Wait for this time, accurate to a few microseconds."""
    end = time.perf_counter() + seconds
    time.sleep(max(0.0, seconds - BUSY_WAIT))
    while time.perf_counter() < end:
        pass


class Sleeper(Dataset):
    """A dataset whose samples take the decode time of the stage times."""

    def __init__(self, times: StageTimes) -> None:
        self.times = times

    def __len__(self) -> int:
        return BATCHES * BATCH_SIZE

    def __getitem__(self, index: int) -> torch.Tensor:
        pause(self.times.of("decode", index // BATCH_SIZE) / BATCH_SIZE)
        return torch.zeros(3, 32, 32)


def measured(times: StageTimes, workers: int) -> Run:
    """Record a run of the real loader."""
    recorder = Recorder(DataLoader(Sleeper(times), BATCH_SIZE, num_workers=workers))
    for batch, _ in enumerate(recorder.batches()):
        pause(times.of("compute", batch))
    return recorder.run("measured", "CPU")


def predicted(times: StageTimes, workers: int) -> float:
    """Return the model's batches per second without the steps that fill the pipeline."""
    return simulate(Pipeline(workers, accelerator=False), times, BATCHES).throughput(SKIP)


def row(name: str, times: StageTimes, workers: int) -> str:
    """Return one line of the table: the median of repeated runs and both predictions."""
    runs = sorted((measured(times, workers) for _ in range(REPEATS)), key=lambda run: run.step_seconds(SKIP))
    low, median, high = sorted(1 / run.step_seconds(SKIP) for run in runs)
    requested = predicted(times, workers)
    recorded = predicted(StageTimes.recorded(runs[REPEATS // 2]), workers)
    errors = [f"{100 * (model / median - 1):+6.1f} %" for model in (requested, recorded)]
    measured_rate = f"{name:28}{workers:8}{median:10.2f}  ({low:.2f}-{high:.2f})"
    return f"{measured_rate}{requested:8.2f} {errors[0]}{recorded:9.2f} {errors[1]}"


def main() -> None:
    """Print predicted and measured throughput."""
    print(f"batches/s: median of {REPEATS} runs (range), then model from requested and from recorded times")
    for name, times in CASES.items():
        for workers in (0, 1, 2):
            print(row(name, times, workers))


if __name__ == "__main__":
    main()

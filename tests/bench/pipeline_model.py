"""The pipeline model beside a real DataLoader: `python -m tests.bench.pipeline_model`.

Stages are sleeps, so that they hardly need a core; the last 2 ms of each are spent waiting awake, because
sleepers are woken late. On a busy machine stages take longer all the same, so the model predicts twice: from
the times that were asked for, and from the times that the recorder saw each stage take in that very run.
Aim on an idle machine: within 5 % of the measurement for 0, 1 and 2 workers.
"""

import time

import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.pipeline import Pipeline, Recorder, Run, StageTimes, simulate

MS = 1e-3
AWAKE = 2 * MS
BATCHES, BATCH_SIZE, SKIP, REPEATS = 40, 4, 8, 3
CASES = {
    "loading is slower": StageTimes(decode=40 * MS, compute=15 * MS),
    "computing is slower": StageTimes(decode=20 * MS, compute=30 * MS),
    "every fourth batch is slow": StageTimes(decode=[60 * MS, 12 * MS, 12 * MS, 12 * MS], compute=20 * MS),
}


def pause(seconds: float) -> None:
    """Take so much time, to some microseconds."""
    end = time.perf_counter() + seconds
    time.sleep(max(0.0, seconds - AWAKE))
    while time.perf_counter() < end:
        pass


class Sleeper(Dataset):
    """Samples that take as long to load as the stage times say."""

    def __init__(self, times: StageTimes) -> None:
        self.times = times

    def __len__(self) -> int:
        return BATCHES * BATCH_SIZE

    def __getitem__(self, index: int) -> torch.Tensor:
        pause(self.times.of("decode", index // BATCH_SIZE) / BATCH_SIZE)
        return torch.zeros(3, 32, 32)


def measured(times: StageTimes, workers: int) -> Run:
    """A recorded run of the real loader."""
    recorder = Recorder(DataLoader(Sleeper(times), BATCH_SIZE, num_workers=workers))
    for batch, _ in enumerate(recorder.batches()):
        pause(times.of("compute", batch))
    return recorder.run("measured", "CPU")


def predicted(times: StageTimes, workers: int) -> float:
    """Batches per second of the model, the filling of the pipeline left out."""
    return simulate(Pipeline(workers, accelerator=False), times, BATCHES).throughput(SKIP)


def row(name: str, times: StageTimes, workers: int) -> str:
    """One line of the table: the middle one of repeated runs, beside both predictions."""
    runs = sorted((measured(times, workers) for _ in range(REPEATS)), key=lambda run: run.step_seconds(SKIP))
    low, real, high = sorted(1 / run.step_seconds(SKIP) for run in runs)
    asked, seen = predicted(times, workers), predicted(StageTimes.recorded(runs[REPEATS // 2]), workers)
    off = [f"{100 * (model / real - 1):+6.1f} %" for model in (asked, seen)]
    return (
        f"{name:28}{workers:8}{real:10.2f}  ({low:.2f}-{high:.2f}){asked:8.2f} {off[0]}{seen:9.2f} {off[1]}"
    )


def main() -> None:
    """Print predicted against measured throughput."""
    print(f"batches/s: median of {REPEATS} runs (range), then the model from times asked and from times seen")
    for name, times in CASES.items():
        for workers in (0, 1, 2):
            print(row(name, times, workers))


if __name__ == "__main__":
    main()

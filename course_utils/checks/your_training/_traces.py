"""Rows of traces, drawn: the main process, workers that load ahead, waits noted twice, one slow batch."""

import numpy as np

FIRST = 3  # the first batch that counts
SHORT = 6  # batches of a short epoch
STAGES = ("read", "decode", "resize", "collate", "augment", "to_tensor")  # a trace has four of them
Row = tuple[str, str, int, int, int]  # thread, name, batch, begin and end in microseconds
QUICK_STEP, LONG_STEP = (6_000, 9_000), (60_000, 70_000)  # microseconds, from and to


def draw_rows(rng: np.random.Generator, slow: str, batches: int, steps: tuple[int, int]) -> list[Row]:
    """Draw the trace of an epoch.

    Another stage is slow in the first batches. In a long epoch a third one is slow in a single batch, so that
    its sum is the largest, and the slow one is quick in a third of the batches: at both ends, or, with long
    steps, in all that the first worker loads. In a short one batch 3 decides.

    Args:
        rng: Draws everything else.
        slow: The stage that takes longest in a usual batch.
        batches: The length of the epoch.
        steps: The shortest and the longest step, in microseconds.

    Returns:
        The rows, in the order in which they began.
    """
    workers = 3 if steps == LONG_STEP else int(rng.integers(2, 4))
    times = _stage_times(rng, slow, batches, steps == LONG_STEP)
    start = now = int(rng.integers(200_000, 900_000))
    free, taken = [start] * workers, [start] * workers  # a batch is in flight for each worker
    rows: list[Row] = []
    for batch in range(batches):
        lane = batch % workers
        free[lane] = _load(rows, (f"worker {lane}", batch), (free[lane], taken[batch]), times)
        until = max(now, free[lane]) + int(rng.integers(20, 60)) + 20_000 * (batch == FIRST)
        rows.append(("main", "wait", batch, now, until))
        within = until - int((until - now) * rng.uniform(0.3, 0.9))
        rows.append(("main", "wait", batch, within, until))  # of the loader that is wrapped
        taken.append(until)
        now = until + int(rng.integers(*steps))
        rows.append(("main", "step", batch, until, now))
        if batch % 2 or batch == batches - 1:
            pause = int(rng.integers(2_000, 4_000))
            rows.append(("main", "log", batch, now, now + pause))
            now += pause
    return sorted(rows, key=lambda row: row[3])


def _stage_times(rng: np.random.Generator, slow: str, batches: int, by_worker: bool) -> dict[str, list[int]]:
    """Return the microseconds of each stage by batch."""
    cold, outlier, other = rng.permutation([stage for stage in STAGES if stage != slow])[:3].tolist()
    stages = sorted((slow, cold, outlier, other), key=STAGES.index)
    usual = dict(zip(stages, rng.permutation([3_600, 4_700, 6_000, 6_000]).tolist(), strict=True))
    usual |= {slow: 26_000, outlier: 2_500}
    times = {stage: (micros * rng.uniform(0.8, 1.2, batches)).astype(int) for stage, micros in usual.items()}
    times[cold][:FIRST] += 150_000
    if batches == SHORT:
        times[slow][FIRST:], times[outlier][FIRST:] = (26_000, 26_000, 1_000), (1_000, 20_000, 20_000)
    else:
        inner = rng.permutation(np.arange(FIRST + 3, batches - 3))
        ends = [*range(FIRST, FIRST + 3), -3, -2, -1, *inner[:2]]
        times[slow][slice(None, None, 3) if by_worker else ends] = 1_000
        times[outlier][inner[2]] = 40 * 26_000
    return {stage: micros.tolist() for stage, micros in times.items()}


def _load(
    rows: list[Row], place: tuple[str, int], times: tuple[int, int], stages: dict[str, list[int]]
) -> int:
    """Add what a worker does for a batch, from when it is free and asked; return when the batch is ready."""
    (worker, batch), (free, asked) = place, times
    now = max(free, asked)
    if now > free:
        rows.append((worker, "wait", batch, free, now))
    for stage, micros in stages.items():
        rows.append((worker, stage, batch, now, now + micros[batch]))
        now += micros[batch]
    return now

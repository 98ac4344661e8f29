"""Traces of trainings as tools write them, drawn: the main process, workers, waits within waits, pauses."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_utils.checks.core import environment

FIRST = 3  # the first batch of an epoch that counts
STAGES = ("read", "decode", "resize", "collate")
Event = dict[str, Any]


@dataclass
class Recording:
    """Collects the events of a trace.

    Attributes:
        events: Events of Chrome's trace format, times in microseconds.
    """

    events: list[Event] = field(default_factory=list)

    def name(self, pid: int, tid: int, name: str) -> None:
        """Name a thread."""
        named = {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}
        self.events.append(named)

    def span(
        self, thread: tuple[int, int], name: str, ts: int, dur: int, epoch: int, batch: int | None
    ) -> None:
        """Add a span; one without a batch belongs to the epoch."""
        where = {"epoch": epoch} if batch is None else {"epoch": epoch, "batch": batch}
        pid, tid = thread
        self.events.append(
            {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": where}
        )


def draw_trace(rng: np.random.Generator, slow: str, short: bool = False) -> str:
    """Draw the trace of a training of two epochs.

    Another stage is slow in the first batches, and a third one in a single batch: its sum is the largest.

    Args:
        rng: Draws everything else.
        slow: The stage that takes longest in a usual batch.
        short: Whether most batches of an epoch are its first ones, and none is an outlier.

    Returns:
        The trace as JSON.
    """
    recording, now = Recording(), int(rng.integers(1_000, 90_000))
    main = (int(rng.integers(2_000, 9_000)), 1)
    # A process may have any number, and the main one a second thread.
    workers = [(main[0] + side * (7 + n), 1) for n, side in enumerate(rng.permutation([-1, 1, 1]).tolist())]
    recording.name(*main, "main")
    recording.name(main[0], 2, "pin thread")
    for number, worker in enumerate(workers):
        recording.name(*worker, f"worker {number}")
    cold, outlier = rng.permutation([stage for stage in STAGES if stage != slow])[:2].tolist()
    batches = rng.permutation([int(rng.integers(13, 17)), int(rng.integers(24, 30))]).tolist()
    for epoch, count in enumerate((5, 5) if short else batches):
        stages = _stage_times(rng, count, (slow, cold, outlier if epoch and not short else ""))
        now = _draw_epoch(recording, rng, (main, workers), (epoch, now), stages)
        pause = int(rng.integers(150_000, 300_000))
        recording.span(main, "validate", now, pause, epoch, None)
        now += pause
    return environment.json.dumps(
        {"traceEvents": [recording.events[n] for n in rng.permutation(len(recording.events))]}
    )


def _stage_times(rng: np.random.Generator, count: int, kinds: tuple[str, str, str]) -> dict[str, list[int]]:
    """Return the microseconds of each stage by batch; kinds are the slow, the cold and the outlying stage."""
    slow, cold, outlier = kinds
    usual = dict(zip(STAGES, rng.permutation([2_500, 3_600, 4_700, 6_000]).tolist(), strict=True))
    usual[slow] = 26_000
    times = {stage: (micros * rng.uniform(0.8, 1.2, count)).astype(int) for stage, micros in usual.items()}
    times[cold][:FIRST] += 150_000
    if outlier:
        times[outlier][int(rng.integers(FIRST + 2, count - 3))] = 40 * 26_000
    return {stage: micros.tolist() for stage, micros in times.items()}


def _draw_epoch(
    recording: Recording,
    rng: np.random.Generator,
    lanes: tuple[tuple[int, int], list[tuple[int, int]]],
    begin: tuple[int, int],
    stages: dict[str, list[int]],
) -> int:
    """Add an epoch with two batches in flight for each worker; return when its last step ended."""
    (main, workers), (epoch, now) = lanes, begin
    count, free = len(stages["read"]), [now] * len(workers)
    taken: list[int] = []
    ready: list[int] = []
    start = now
    for batch in range(count):
        lane = batch % len(workers)
        asked = taken[batch - 2 * len(workers)] if batch >= 2 * len(workers) else start
        ready.append(_load(recording, workers[lane], (epoch, batch), (free[lane], asked), stages))
        free[lane] = ready[batch]
        until = max(now, ready[batch]) + int(rng.integers(20, 60))
        recording.span(main, "wait", now, until - now, epoch, batch)
        inner = int((until - now) * rng.uniform(0.3, 0.9))
        recording.span(main, "wait", until - inner, inner, epoch, batch)  # of the loader that is wrapped
        recording.span((main[0], 2), "wait", now, until - now, epoch, batch)
        taken.append(until)
        now = _step(recording, rng, main, (epoch, batch), until, last=batch == count - 1)
    return now


def _load(
    recording: Recording,
    worker: tuple[int, int],
    place: tuple[int, int],
    times: tuple[int, int],
    stages: dict[str, list[int]],
) -> int:
    """Add the spans of a worker that loads a batch; return when it is ready."""
    (epoch, batch), (free, asked) = place, times
    now = max(free, asked)
    if now > free:
        recording.span(worker, "wait", free, now - free, epoch, batch)
    for stage, micros in stages.items():
        recording.span(worker, stage, now, micros[batch], epoch, batch)
        now += micros[batch]
    return now


def _step(
    recording: Recording,
    rng: np.random.Generator,
    main: tuple[int, int],
    place: tuple[int, int],
    now: int,
    last: bool,
) -> int:
    """Add a step, with what lies within it, and now and then a line of the log behind it."""
    epoch, batch = place
    dur = int(rng.integers(6_000, 9_000))
    if batch % 5 == 4:  # meanwhile the workers run out of work
        dur += int(rng.integers(180_000, 240_000))
    recording.span(main, "step", now, dur, epoch, batch)
    recording.span(main, "forward", now + 100, dur // 3, epoch, batch)
    recording.span(main, "backward", now + 200 + dur // 3, dur // 2, epoch, batch)
    now += dur
    if batch % 2 and not last:
        pause = int(rng.integers(2_000, 4_000))
        recording.span(main, "log", now, pause, epoch, batch)
        now += pause
    return now

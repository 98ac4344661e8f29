"""The spans of a pipeline's run, modelled or recorded, and the statistics derived from them."""

import json
import statistics
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

STAGES = ("read", "decode", "load", "collate", "pin", "wait", "transfer", "compute")


@dataclass(frozen=True)
class Span:
    """One stage of one batch: `lane` ran `stage` for `batch` from `start` to `end` (seconds)."""

    lane: str
    stage: str
    batch: int
    start: float
    end: float

    @property
    def seconds(self) -> float:
        """Length of the span, in seconds."""
        return self.end - self.start


@dataclass(frozen=True)
class Run:
    """The spans of one run.

    Args:
        name: Name of the run, for titles and legends.
        source: "model", or the device on which the run was recorded.
        spans: All spans, in seconds since the start of the run.
        batch_size: Samples per batch.
        facts: Further facts about the run (versions, date, settings).
    """

    name: str
    source: str
    spans: tuple[Span, ...]
    batch_size: int = 1
    facts: dict[str, Any] = field(default_factory=dict)

    def stage(self, stage: str) -> list[Span]:
        """Return the spans of one stage in the order in which they ended."""
        return sorted((s for s in self.spans if s.stage == stage), key=lambda s: (s.end, s.batch))

    def lanes(self) -> list[str]:
        """Return the lanes: workers first, then pin thread, main process, copy engine and accelerator."""
        rank = {"worker": 0, "pin thread": 1, "main process": 2, "copy engine": 3, "accelerator": 4}
        names = {s.lane for s in self.spans}
        return sorted(names, key=lambda n: (rank.get(n, 0), len(n), n))

    @property
    def batches(self) -> int:
        """Number of batches that were computed."""
        return len(self.stage("compute"))

    @property
    def total_seconds(self) -> float:
        """Seconds from the start of the run until the last batch was computed."""
        return max((s.end for s in self.stage("compute")), default=0.0)

    def window(self, skip: int = 0) -> tuple[float, float]:
        """Return the measured part of the run, from the end of the `skip`-th step to the end, in seconds.

        Raises:
            ValueError: No step is left after `skip` steps.
        """
        ends = [s.end for s in self.stage("compute")]
        if skip >= len(ends):
            raise ValueError(f"cannot skip {skip} of {len(ends)} steps: nothing is left to measure")
        return (ends[skip - 1] if skip else 0.0), ends[-1]

    def step_seconds(self, skip: int = 0) -> float:
        """Return the seconds per step without the first `skip` steps, which fill the pipeline."""
        start, end = self.window(skip)
        return (end - start) / (self.batches - skip)

    def throughput(self, skip: int = 0) -> float:
        """Return the samples per second without the first `skip` steps."""
        return self.batch_size / self.step_seconds(skip)

    def idle(self, skip: int = 0) -> list[tuple[float, float]]:
        """Return the intervals of the window without a computation, as (start, end) in seconds."""
        start, end = self.window(skip)
        gaps, busy_until = [], start
        for span in sorted(self.stage("compute"), key=lambda s: s.start):
            if span.start > busy_until:
                gaps.append((busy_until, min(span.start, end)))
            busy_until = max(busy_until, span.end)
        return gaps

    def idle_fraction(self, skip: int = 0) -> float:
        """Return the share of the window (0 to 1) without a computation."""
        start, end = self.window(skip)
        return sum(b - a for a, b in self.idle(skip)) / (end - start) if end > start else 0.0

    def median_stage(self, stage: str) -> float:
        """Return the median length of a stage, in seconds; 0 if the run has no such stage."""
        return float(statistics.median([s.seconds for s in self.stage(stage)] or [0.0]))

    def to_json(self) -> dict[str, Any]:
        """Return the run as JSON data, with times rounded to a microsecond."""
        plain = asdict(self)
        plain["spans"] = [
            [s.lane, s.stage, s.batch, round(float(s.start), 6), round(float(s.end), 6)] for s in self.spans
        ]
        return plain

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Run":
        """Decode what `to_json` returned."""
        return cls(**{**plain, "spans": tuple(Span(*row) for row in plain["spans"])})


def trace_events(run: Run, process: int = 0) -> list[dict[str, Any]]:
    """Return a run as events of Chrome's trace format (times in microseconds), one thread per lane."""
    threads = {lane: number for number, lane in enumerate(run.lanes())}
    names = [
        {"ph": "M", "name": "thread_name", "pid": process, "tid": number, "args": {"name": lane}}
        for lane, number in threads.items()
    ]
    title = {
        "ph": "M",
        "name": "process_name",
        "pid": process,
        "args": {"name": f"{run.name} ({run.source})"},
    }
    spans = [
        {
            "ph": "X",
            "name": f"{s.stage} {s.batch}",
            "cat": s.stage,
            "pid": process,
            "tid": threads[s.lane],
            "ts": s.start * 1e6,
            "dur": s.seconds * 1e6,
        }
        for s in run.spans
    ]
    return [title, *names, *spans]


def save_trace(runs: Iterable[Run], path: str | Path) -> Path:
    """Write runs side by side to a trace file for ui.perfetto.dev or chrome://tracing; return its path."""
    events = [event for number, run in enumerate(runs) for event in trace_events(run, number)]
    Path(path).write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}))
    return Path(path)

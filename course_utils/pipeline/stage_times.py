"""Durations of the stages of a pipeline for each batch: constant, random with a seed, or recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from course_utils.pipeline.trace import Run

Times: TypeAlias = float | Sequence[float]


@dataclass(frozen=True)
class StageTimes:
    """Seconds per batch of each stage: one number, or a sequence that repeats.

    Args:
        read: Reading the bytes of a batch.
        decode: Turning them into a batch of tensors (decode, transform, collate).
        pin: Copying the batch into page-locked memory.
        transfer: Copying it to the accelerator.
        compute: Forward, backward and optimiser step.
        hand_over: Cost of `next()` in the main process when a worker's batch is ready already.
    """

    read: Times = 0.0
    decode: Times = 0.0
    pin: Times = 0.0
    transfer: Times = 0.0
    compute: Times = 0.0
    hand_over: Times = 0.0

    def of(self, stage: str, batch: int) -> float:
        """Return the seconds that `stage` takes for batch number `batch`."""
        times: Times = getattr(self, stage)
        return times[batch % len(times)] if isinstance(times, Sequence) else times

    @classmethod
    def recorded(cls, run: Run) -> "StageTimes":
        """Return the stage times of a recorded run, batch by batch; its load and collate count as decode."""

        def seconds_per_batch(*stages: str) -> Times:
            seconds: dict[int, float] = {}
            for span in (s for s in run.spans if s.stage in stages):
                seconds[span.batch] = seconds.get(span.batch, 0.0) + span.seconds
            return [seconds[batch] for batch in sorted(seconds)] or 0.0

        return cls(
            read=seconds_per_batch("read"),
            decode=seconds_per_batch("decode", "load", "collate"),
            pin=seconds_per_batch("pin"),
            transfer=seconds_per_batch("transfer"),
            compute=seconds_per_batch("compute"),
            hand_over=_hand_over_times(run),
        )


def _hand_over_times(run: Run) -> Times:
    """Return for each batch the seconds from when it was both ready and requested until the loop had it."""
    ready = {s.batch: s.end for s in (*run.stage("collate"), *run.stage("pin"))}
    waits = sorted(run.stage("wait"), key=lambda s: s.batch)
    return [max(s.end - max(s.start, ready.get(s.batch, s.end)), 0.0) for s in waits] or 0.0

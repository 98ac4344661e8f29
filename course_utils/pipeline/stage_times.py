"""How long each stage of a pipeline takes for each batch: constant, random by a seed, or recorded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from course_utils.pipeline.trace import Run

Times: TypeAlias = float | Sequence[float]


@dataclass(frozen=True)
class StageTimes:
    """Seconds per batch of each stage: one number, or a sequence that is used over and over.

    Args:
        read: Getting the bytes of a batch.
        decode: Turning them into a batch of tensors (decode, transform, collate).
        pin: Copying the batch into page-locked memory.
        transfer: Copying it to the accelerator.
        compute: Forward, backward and optimiser step.
        hand_over: What `next()` costs the main process when a worker's batch is there already.
    """

    read: Times = 0.0
    decode: Times = 0.0
    pin: Times = 0.0
    transfer: Times = 0.0
    compute: Times = 0.0
    hand_over: Times = 0.0

    def of(self, stage: str, batch: int) -> float:
        """Seconds that `stage` takes for batch number `batch`."""
        times = getattr(self, stage)
        return times[batch % len(times)] if isinstance(times, Sequence) else times

    def randomised(self, spread: float, batches: int, seed: int) -> "StageTimes":
        """Times that scatter around these ones, the same for the same seed.

        Args:
            spread: Standard deviation divided by the mean, of every stage.
            batches: How many batches to draw.
            seed: Seed of the draw.

        Returns:
            Stage times with gamma-distributed sequences of length `batches` and the same means.
        """
        rng = np.random.default_rng(seed)
        shape = 1 / spread**2

        def draw(mean: float) -> list[float]:
            return (rng.gamma(shape, mean / shape, batches)).tolist()

        means = {name: float(np.mean(getattr(self, name))) for name in self.__dataclass_fields__}
        return replace(self, **{name: draw(mean) for name, mean in means.items()})

    @classmethod
    def recorded(cls, run: Run) -> "StageTimes":
        """The stage times of a recorded run, batch by batch; what it recorded as load counts as decode."""

        def lengths(*stages: str) -> Times:
            per_batch: dict[int, float] = {}
            for span in (s for s in run.spans if s.stage in stages):
                per_batch[span.batch] = per_batch.get(span.batch, 0.0) + span.seconds
            return [per_batch[batch] for batch in sorted(per_batch)] or 0.0

        return cls(
            read=lengths("read"),
            decode=lengths("decode", "load", "collate"),
            pin=lengths("pin"),
            transfer=lengths("transfer"),
            compute=lengths("compute"),
            hand_over=_hand_overs(run),
        )


def _hand_overs(run: Run) -> Times:
    """From the moment when a batch was there and asked for, until the loop had it; seconds of each batch."""
    ready = {s.batch: s.end for s in (*run.stage("collate"), *run.stage("pin"))}
    waits = sorted(run.stage("wait"), key=lambda s: s.batch)
    return [max(s.end - max(s.start, ready.get(s.batch, s.end)), 0.0) for s in waits] or 0.0

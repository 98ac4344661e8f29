"""Seven ways to build the same pipeline, each one change away from the one before."""

from dataclasses import dataclass, replace

from course_utils.pipeline.model import Pipeline, simulate
from course_utils.pipeline.stage_times import StageTimes
from course_utils.pipeline.trace import Run

MS = 1e-3
SLOW_EVERY = 8


@dataclass(frozen=True)
class Case:
    """One pipeline and its stage times (seconds per batch), with the change that led to it."""

    name: str
    change: str
    pipeline: Pipeline
    times: StageTimes

    def run(self, batches: int = 32, batch_size: int = 64) -> Run:
        """The case, simulated."""
        return simulate(self.pipeline, self.times, batches, batch_size, self.name)


def cases() -> tuple[Case, ...]:
    """The seven cases, from the naive loop to prefetching on the GPU.

    Returns:
        Cases in teaching order. Their times are round numbers chosen to be seen, not measurements. In the
        last three every eighth batch takes five times as long to decode, as a set of mixed sizes has it.
    """
    naive = StageTimes(read=6 * MS, decode=12 * MS, transfer=4 * MS, compute=8 * MS)
    read = replace(naive, read=2 * MS)
    decode = replace(read, decode=6 * MS)
    pinned = replace(decode, pin=1 * MS, transfer=2 * MS)
    uneven = replace(pinned, decode=[*[6 * MS] * 4, 30 * MS, *[6 * MS] * (SLOW_EVERY - 5)])
    pin = Pipeline(pin=True)
    workers = replace(pin, workers=2, prefetch_factor=1)
    deep = replace(workers, prefetch_factor=4)
    on_gpu = replace(deep, non_blocking=True, device_prefetch=1)
    return (
        Case("naive loop", "every stage waits for the one before", Pipeline(), naive),
        Case("fast read", "read: 6 to 2 ms", Pipeline(), read),
        Case("fast collate", "decode and collate: 12 to 6 ms", Pipeline(), decode),
        Case("pinned memory", "1 ms to pin, transfer: 4 to 2 ms", pin, pinned),
        Case("several workers", "two processes load, one batch each on order", workers, uneven),
        Case("prefetch on the CPU", "prefetch_factor: 1 to 4", deep, uneven),
        Case("prefetch on the GPU", "the next copy runs beside the step", on_gpu, uneven),
    )

"""Nine example pipelines with their stage times, each one change away from the previous one."""

from dataclasses import dataclass, replace

from course_utils.pipeline.model import simulate
from course_utils.pipeline.settings import Pipeline
from course_utils.pipeline.stage_times import StageTimes
from course_utils.pipeline.trace import Run

MS = 1e-3
SLOW_EVERY = 8


@dataclass(frozen=True)
class ExamplePipeline:
    """A pipeline and its stage times.

    Args:
        name: Name, for titles.
        change: The difference from the previous example.
        pipeline: The settings.
        times: Seconds per batch of each stage.
    """

    name: str
    change: str
    pipeline: Pipeline
    times: StageTimes

    def run(self, batches: int = 64, batch_size: int = 64) -> Run:
        """Simulate the example."""
        return simulate(self.pipeline, self.times, batches, batch_size, self.name)


def example_pipelines() -> tuple[ExamplePipeline, ...]:
    """Return the nine examples, from the naive loop to prefetching on the GPU.

    Returns:
        The examples in teaching order. Their times are round numbers chosen to be visible in a chart, not
        measurements. From the fifth on every eighth batch takes five times as long to decode, as in a dataset
        with some large images.
    """
    naive = StageTimes(read=6 * MS, decode=12 * MS, transfer=4 * MS, compute=8 * MS)
    fast_read = replace(naive, read=2 * MS)
    fast_collate = replace(fast_read, decode=6 * MS)
    pinned = replace(fast_collate, pin=1 * MS, transfer=2 * MS)
    uneven = replace(pinned, decode=[*[6 * MS] * 4, 30 * MS, *[6 * MS] * (SLOW_EVERY - 5)])
    simple = Pipeline(prefetch_factor=1)
    pin = replace(simple, pin=True)
    workers = replace(pin, workers=2)
    deep = replace(workers, prefetch_factor=4)
    non_blocking = replace(deep, non_blocking=True)
    on_gpu = replace(non_blocking, device_prefetch=1)
    return (
        ExamplePipeline("naive loop", "every stage waits for the one before", simple, naive),
        ExamplePipeline("fast read", "read: 6 to 2 ms", simple, fast_read),
        ExamplePipeline("fast collate", "decode and collate: 12 to 6 ms", simple, fast_collate),
        ExamplePipeline("pinned memory", "1 ms to pin, transfer: 4 to 2 ms", pin, pinned),
        ExamplePipeline("some large images", "every eighth batch: 30 ms to decode", pin, uneven),
        ExamplePipeline("several workers", "two processes load, one batch each in flight", workers, uneven),
        ExamplePipeline("prefetch on the CPU", "prefetch_factor: 1 to 4", deep, uneven),
        ExamplePipeline(
            "non_blocking", "the main process queues copies without waiting", non_blocking, uneven
        ),
        ExamplePipeline("prefetch on the GPU", "the next copy runs beside the step", on_gpu, uneven),
    )

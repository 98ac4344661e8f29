"""The steps from the naive loop to a busy accelerator, one change at a time, and how to record each."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.loading import make_loader
from course_utils.pipeline.model import Pipeline
from course_utils.pipeline.recorded_batch import ReadCalls
from course_utils.pipeline.recorder import Recorder, device_name
from course_utils.pipeline.trace import Run

Prefetcher = Callable[..., Iterable[Any]]
FREE_RUNNING = 8


@dataclass(frozen=True)
class Step:
    """One way to run the training, and what changed since the step before.

    Args:
        name: For titles.
        change: The one thing that is new.
        pipeline: The settings, also for the model.
    """

    name: str
    change: str
    pipeline: Pipeline

    @property
    def needs_gpu(self) -> bool:
        """Pinning, asynchronous copies and side streams only exist with an accelerator."""
        return self.pipeline.pin

    def loader(self, dataset: Dataset, batch_size: int, seed: int = 0) -> DataLoader:
        """The step's `DataLoader`, shuffled by a generator of its own."""
        p = self.pipeline
        settings = {"prefetch_factor": p.prefetch_factor, "pin_memory": p.pin, "drop_last": True}
        return make_loader(dataset, batch_size, p.workers, shuffle=True, seed=seed, **settings)


def steps(workers: int, accelerator: bool) -> tuple[Step, ...]:
    """All steps in order.

    Args:
        workers: How many worker processes to use once there are any.
        accelerator: Whether a device computes beside the main process.
    """
    base = {"accelerator": accelerator, "steps_ahead": FREE_RUNNING if accelerator else 0}
    cpu = [
        Step("naive loop", "loads in the main process", Pipeline(**base)),
        Step(_workers(workers), f"num_workers: 0 to {workers}", Pipeline(workers, 2, **base)),
    ]
    deep = Step("prefetch factor 4", "prefetch_factor: 2 to 4", Pipeline(workers, 4, **base))
    if not accelerator:
        return (*cpu, deep)
    base["pin"] = True
    return (
        *cpu,
        Step("pinned", "pin_memory=True", Pipeline(workers, 2, **base)),
        Step("non_blocking", "non_blocking=True", Pipeline(workers, 2, non_blocking=True, **base)),
        Step("prefetch factor 4", "prefetch_factor: 2 to 4", Pipeline(workers, 4, non_blocking=True, **base)),
        Step(
            "prefetch on the GPU",
            "copies on a side stream",
            Pipeline(workers, 4, non_blocking=True, device_prefetch=1, **base),
        ),
    )


def _workers(count: int) -> str:
    return f"{count} worker" if count == 1 else f"{count} workers"


def record_step(
    step: Step,
    dataset: Dataset,
    train: Callable[[torch.Tensor, torch.Tensor], object],
    device: torch.device | str,
    batch_size: int,
    num_batches: int,
    prefetcher: Prefetcher | None = None,
    read_calls: ReadCalls = (),
) -> Run:
    """Run one step for real and record it.

    Args:
        step: What to run.
        dataset: Gives (image, label).
        train: One training step on a batch that is on `device`, such as `training_step(model)`.
        device: Where it computes.
        batch_size: Samples per batch.
        num_batches: Batches to train on, the filling of the pipeline included.
        prefetcher: `prefetcher(batches, device, cuda)`, for the step that prefetches on the GPU.
        read_calls: Methods whose time counts as reading; see `Recorder`.

    Raises:
        ValueError: The step needs a GPU or a prefetcher and there is none.
    """
    device = torch.device(device)
    on_gpu = device.type == "cuda"
    if step.needs_gpu and not on_gpu:
        raise ValueError(f"{step.name} needs a GPU; the device is {device}")
    recorder = Recorder(step.loader(dataset, batch_size), torch.cuda if on_gpu else None, read_calls)
    batches: Iterable[Any] = recorder.batches(num_batches)
    if step.pipeline.device_prefetch:
        if prefetcher is None:
            raise ValueError(f"{step.name} needs a prefetcher: the one of the exercise, once it is written")
        batches = prefetcher(batches, device, recorder.prefetching_cuda())
    for batch in batches:
        if on_gpu and not step.pipeline.device_prefetch:
            with recorder.stage("transfer"):
                batch = [t.to(device, non_blocking=step.pipeline.non_blocking) for t in batch]
        with recorder.stage("compute"):
            train(*batch)
    return recorder.run(step.name, device_name(device), change=step.change)


def ideal_seconds(naive: Run, workers: int) -> float:
    """The best step time that overlap can give: the longest of loading (shared by the workers) and the rest.

    Args:
        naive: A recorded run whose stages did not disturb each other.
        workers: How many processes share the loading.

    Returns:
        Seconds per step, from the median stage times.
    """
    load = sum(naive.median_stage(stage) for stage in ("load", "read", "decode", "collate"))
    return max(load / max(workers, 1), naive.median_stage("transfer"), naive.median_stage("compute"))


def spread(runs: Sequence[Run], skip: int) -> tuple[float, float, float]:
    """Lowest, middle and highest step time of repeated runs, in seconds."""
    times = sorted(run.step_seconds(skip) for run in runs)
    return times[0], times[len(times) // 2], times[-1]

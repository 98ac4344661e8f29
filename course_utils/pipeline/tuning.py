"""The tuning steps from the naive loop to a busy accelerator, one setting at a time, and their recording."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.loading import make_loader
from course_utils.pipeline.recorded_batch import ReadMethods
from course_utils.pipeline.recorder import Recorder, device_name
from course_utils.pipeline.settings import Pipeline
from course_utils.pipeline.trace import Run

# prefetcher(batches, device, cuda), where `cuda` has the functions of `torch.cuda` that it needs
Prefetcher: TypeAlias = Callable[[Iterable[Any], torch.device, Any], Iterable[Any]]
STEPS_AHEAD = 8
DEEPEST_PREFETCH = 4
ROUNDS = 3
LEAST_MEASURED = 20


@dataclass(frozen=True)
class TuningStep:
    """A pipeline configuration that differs from the previous one in a single setting.

    Args:
        name: Name, for titles.
        change: The setting that changed.
        pipeline: The settings, also for the model.
    """

    name: str
    change: str
    pipeline: Pipeline

    @property
    def needs_gpu(self) -> bool:
        """Whether the step needs an accelerator: pinning, asynchronous copies and side streams do."""
        return self.pipeline.pin

    def loader(self, dataset: Dataset[Any], batch_size: int, seed: int = 0) -> DataLoader[Any]:
        """Return the `DataLoader` of this step, shuffled by its own generator."""
        p = self.pipeline
        return make_loader(
            dataset,
            batch_size,
            p.workers,
            shuffle=True,
            seed=seed,
            prefetch_factor=p.prefetch_factor,
            pin_memory=p.pin,
            drop_last=True,
        )


def tuning_steps(workers: int, accelerator: bool) -> tuple[TuningStep, ...]:
    """Return all tuning steps in order.

    Args:
        workers: Number of worker processes in the steps that have any.
        accelerator: Whether a separate device computes, rather than the main process.
    """
    naive = Pipeline(accelerator=accelerator, steps_ahead=STEPS_AHEAD if accelerator else 0)
    parallel = replace(naive, workers=workers)
    plural = "worker" if workers == 1 else "workers"
    common = (
        TuningStep("naive loop", "loads in the main process", naive),
        TuningStep(f"{workers} {plural}", f"num_workers: 0 to {workers}", parallel),
    )
    if not accelerator:
        return (*common, _deeper(parallel))
    pinned = replace(parallel, pin=True)
    non_blocking = replace(pinned, non_blocking=True)
    deeper = _deeper(non_blocking)
    on_gpu = replace(deeper.pipeline, device_prefetch=1)
    return (
        *common,
        TuningStep("pinned", "pin_memory=True", pinned),
        TuningStep("non_blocking", "non_blocking=True", non_blocking),
        deeper,
        TuningStep("prefetch on the GPU", "copies on a side stream", on_gpu),
    )


def _deeper(pipeline: Pipeline) -> TuningStep:
    deep = replace(pipeline, prefetch_factor=DEEPEST_PREFETCH)
    return TuningStep(
        f"prefetch factor {DEEPEST_PREFETCH}", f"prefetch_factor: 2 to {DEEPEST_PREFETCH}", deep
    )


def warm_up_steps(workers: int) -> int:
    """Return the number of steps to leave out of a run: all prefetched batches, and a few for the warm-up."""
    return DEEPEST_PREFETCH * workers + 4


def measured_steps(workers: int) -> int:
    """Return the number of steps to measure: several rounds of all workers."""
    return max(LEAST_MEASURED, ROUNDS * workers)


def record_step(
    step: TuningStep,
    dataset: Dataset[Any],
    train: Callable[[torch.Tensor, torch.Tensor], object],
    device: torch.device | str,
    batch_size: int,
    num_batches: int,
    prefetcher: Prefetcher | None = None,
    read_methods: ReadMethods = (),
) -> Run:
    """Train with one tuning step and record the run.

    Args:
        step: The step to run.
        dataset: A dataset of (image, label).
        train: One training step on a batch that is on `device`, such as `training_step(model)`.
        device: The device that computes.
        batch_size: Samples per batch.
        num_batches: Batches to train on, including those that fill the pipeline.
        prefetcher: `prefetcher(batches, device, cuda)`, for the step that prefetches on the GPU.
        read_methods: Methods whose time counts as reading; see `Recorder`.

    Raises:
        ValueError: The step needs a GPU or a prefetcher and there is none, the loader has too few batches, or
            the device is neither a CPU nor a CUDA device.
    """
    device = torch.device(device)
    on_gpu = device.type == "cuda"
    if not on_gpu and device.type != "cpu":
        raise ValueError(f"the recorder times CPUs and CUDA devices only; the device is {device}")
    loader = step.loader(dataset, batch_size)
    if len(loader) < num_batches:
        raise ValueError(f"the dataset has {len(loader)} batches of {batch_size}; {num_batches} are needed")
    if step.needs_gpu and not on_gpu:
        raise ValueError(f"{step.name} needs a GPU; the device is {device}")
    recorder = Recorder(loader, torch.cuda if on_gpu else None, read_methods)
    batches: Iterable[Any] = recorder.batches(num_batches)
    if step.pipeline.device_prefetch:
        if prefetcher is None:
            raise ValueError(f"{step.name} needs a prefetcher: pass the one that you wrote in the exercise")
        batches = prefetcher(batches, device, recorder.prefetching_cuda())
    for batch in batches:
        if on_gpu and not step.pipeline.device_prefetch:
            with recorder.stage("transfer"):
                batch = [t.to(device, non_blocking=step.pipeline.non_blocking) for t in batch]
        with recorder.stage("compute"):
            train(*batch)
    return recorder.run(step.name, device_name(device), change=step.change)


def ideal_seconds(naive: Run, workers: int) -> float:
    """Return the step time of perfect overlap: the longest of loading (shared by the workers) and the rest.

    Args:
        naive: A recorded run whose stages do not compete for resources.
        workers: Number of processes that share the loading.

    Returns:
        Seconds per step, from the median stage times.
    """
    load = sum(naive.median_stage(stage) for stage in ("load", "read", "decode", "collate"))
    return max(load / max(workers, 1), naive.median_stage("transfer"), naive.median_stage("compute"))


def step_time_range(runs: Sequence[Run], skip: int) -> tuple[float, float, float]:
    """Return the lowest, median and highest step time of repeated runs, in seconds.

    Args:
        runs: Runs of the same step; of an even number the higher of the two middle ones is the median.
        skip: Training steps to leave out at the start of each run.
    """
    times = sorted(run.step_seconds(skip) for run in runs)
    return times[0], times[len(times) // 2], times[-1]

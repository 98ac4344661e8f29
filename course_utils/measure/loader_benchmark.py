"""Measure how fast a dataset or a loader delivers batches to a device, and the state of the page cache.

An epoch lasts from the request for its first batch until the last one is on the device. An accelerator works
asynchronously, so it is synchronised once, at the end.

Example:
    >>> from course_utils.measure import benchmark
    >>> benchmark(dataset, epochs=3, batch_size=64, num_workers=2, persistent_workers=True,
    ...           pin_memory=True, device="cpu", repeats=3)                  # doctest: +SKIP
    JpegDataset: 2710 images/s on cpu; 0.738 s per later epoch (0.731 to 0.762 s, 6 epochs ...
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from time import perf_counter
from typing import Any, TypeGuard, cast

import torch
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

from course_utils.loading import make_loader
from course_utils.measure.results import BenchmarkResult, Epoch
from course_utils.storage import CacheState, PathLike, page_cache
from course_utils.system import one_thread

__all__ = ["benchmark", "compare", "time_epoch"]

Files = PathLike | Iterable[PathLike]
Loader = Iterable[object]
Source = Dataset[object] | Loader


def benchmark(
    dataset: Source,
    epochs: int,
    batch_size: int | None,
    num_workers: int | None,
    persistent_workers: bool | None,
    pin_memory: bool | None,
    device: torch.device | str,
    shuffle: bool = True,
    warm_start: bool = False,
    *,
    repeats: int = 1,
    cold_start: bool = False,
    label: str | None = None,
    files: Files | None = None,
    progress: bool = False,
    **loader_options: object,
) -> BenchmarkResult:
    """Time epochs over a dataset, with each batch moved to a device.

    While a dataset is timed, this process computes with one thread, as workers do: the result is for as many
    cores as workers (one for 0 workers). A ready loader keeps its threads.

    Args:
        dataset: a dataset, for which each repeat makes a ``DataLoader``; or a ready loader (any object that
            yields batches each time it is iterated). A ready loader has its own ``batch_size``,
            ``num_workers``, ``persistent_workers`` and ``pin_memory``: pass None for them.
        epochs: passes over the data, at least 1 (2 with ``warm_start``).
        batch_size: samples per batch.
        num_workers: processes that load; 0 loads in this one.
        persistent_workers: keep the workers between epochs; ignored without workers.
        pin_memory: copy batches to page-locked memory first; ignored without an accelerator.
        device: where each batch is moved to.
        shuffle: a new order in each epoch, the same orders in each call.
        warm_start: exclude the first epoch of each repeat from the result.
        repeats: how often to measure all epochs, with new workers each time.
        cold_start: evict the files from the page cache before each repeat.
        label: name of the result; by default the class of the dataset. The ``benchmark_note`` of a dataset,
            such as that it is a model, is appended.
        files: files whose page cache is measured; by default the dataset's own ``paths`` or ``path``.
        progress: show a progress bar on stdout.
        **loader_options: further arguments of `course_utils.loading.make_loader`: ``start_method``,
            ``prefetch_factor``, ``seed``, ``collate_fn``, ...

    Raises:
        ValueError: The numbers of epochs and repeats give no result, a dataset lacks settings or a ready
            loader gets some, or a batch holds no tensor with a length.
    """
    if files is None:  # datasets name their files by paths or a path
        files = cast("Files | None", _first_attribute(dataset, "paths", "path"))
    if not isinstance(files, str | os.PathLike | None):
        files = list(files)  # it is needed before and after each epoch
    _validate(epochs, repeats, warm_start, cold_start, files)
    settings = {
        "batch_size": batch_size,
        "num_workers": num_workers,
        "persistent_workers": persistent_workers,
        "pin_memory": pin_memory,
    }
    device = torch.device(device)
    torch.zeros(1, device=device)  # starting an accelerator takes seconds that belong to no epoch
    note = _first_attribute(dataset, "benchmark_note")
    label = (label or type(dataset).__name__) + (f" ({note})" if note else "")
    results = []
    threads = contextlib.nullcontext() if _is_ready_loader(dataset) else one_thread()
    bar = tqdm(total=repeats * epochs, desc=label, unit="epoch", file=sys.stdout, disable=not progress)
    with threads, bar:
        for _ in range(repeats):
            if cold_start and files is not None:
                page_cache.evict(files)
            loader = _loader(dataset, shuffle, settings, loader_options)
            timed = []
            for number in range(epochs):
                timed.append(time_epoch(loader, number, device, _cache(files)))
                bar.update()
            results.append(_result(label, timed[warm_start:], loader, device, _cache(files)))
            del loader  # stops its persistent workers before the next ones start
    return reduce(BenchmarkResult.merge, results)


def compare(
    datasets: Mapping[str, Source],
    *,
    repeats: int = 3,
    progress: bool = False,
    **settings: Any,  # noqa: ANN401 - arguments of benchmark
) -> list[BenchmarkResult]:
    """Benchmark several datasets in alternating rounds, so that load spikes affect all equally.

    Args:
        datasets: datasets or ready loaders by label.
        repeats: rounds; each measures every dataset once.
        progress: show a progress bar on stdout.
        **settings: arguments of `benchmark`, the same for all.

    Returns:
        One result per dataset, in their order.

    Raises:
        ValueError: There is nothing to measure.
    """
    if not datasets or repeats < 1:
        raise ValueError(f"{len(datasets)} datasets, repeats={repeats}: at least one of each")
    rounds = tqdm(range(repeats), desc="rounds", file=sys.stdout, disable=not progress)
    turns = [
        [benchmark(dataset, label=label, **settings) for label, dataset in datasets.items()] for _ in rounds
    ]
    return [reduce(BenchmarkResult.merge, results) for results in zip(*turns, strict=True)]


def time_epoch(loader: Loader, number: int, device: torch.device, cache: CacheState | None = None) -> Epoch:
    """Time one epoch: move every batch of a loader to a device.

    Args:
        loader: yields batches: tensors, or lists, tuples and mappings that contain some. The length of the
            first tensor is the number of samples in a batch.
        number: index of the epoch for this loader, from 0.
        device: where the batches are moved to.
        cache: the page cache before the epoch, stored in the result.

    Raises:
        ValueError: The loader yields no batch, or one without a tensor that has a length.
    """
    first, images, nbytes = None, 0, 0
    start = perf_counter()
    for batch in loader:
        tensors = [tensor.to(device, non_blocking=True) for tensor in _tensors(batch)]
        if not tensors or not tensors[0].ndim:
            raise ValueError(
                f"a batch of type {type(batch).__name__} holds no tensor with a length, which is its number "
                "of samples; collate samples to tensors"
            )
        if first is None:
            first = perf_counter() - start
        images += len(tensors[0])
        nbytes += sum(tensor.nbytes for tensor in tensors)
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
    seconds = perf_counter() - start
    if first is None:
        raise ValueError(f"the {type(loader).__name__} yielded no batch in epoch {number}")
    return Epoch(number, seconds, first, images, nbytes, cache)


def _validate(epochs: int, repeats: int, warm_start: bool, cold_start: bool, files: Files | None) -> None:
    if epochs < 1 or repeats < 1:
        raise ValueError(f"epochs={epochs}, repeats={repeats}: both must be at least 1")
    if warm_start and epochs == 1:
        raise ValueError(
            "warm_start=True excludes the first epoch, so epochs=1 leaves no result: "
            "use epochs=2 or more, or warm_start=False"
        )
    if warm_start and cold_start:
        raise ValueError("cold_start affects the first epoch, which warm_start excludes: choose one")
    if cold_start and not files:
        raise ValueError("cold_start needs the dataset's files, which are unknown: pass files=...")


def _loader(dataset: Source, shuffle: bool, settings: dict[str, Any], options: dict[str, Any]) -> Loader:
    if not _is_ready_loader(dataset):
        for name in ("batch_size", "num_workers"):
            if settings[name] is None:
                raise ValueError(f"{name}=None: give a number; None is for loaders that have their own")
        # Whatever has __getitem__ and __len__ serves DataLoader as a dataset.
        return make_loader(cast("Dataset[object]", dataset), shuffle=shuffle, **settings, **options)
    own = [name for name, value in {**settings, **options}.items() if value is not None]
    if own:
        raise ValueError(f"a {type(dataset).__name__} has its own {', '.join(own)}: pass None")
    return dataset


def _is_ready_loader(dataset: Source) -> TypeGuard[Loader]:
    return isinstance(dataset, DataLoader) or not (
        isinstance(dataset, Dataset) or hasattr(dataset, "__getitem__")
    )


def _first_attribute(dataset: object, *names: str) -> object:
    """Return the first non-empty attribute of a dataset, or of the one that it wraps (`Subset`, a loader)."""
    for name in names:
        if value := getattr(dataset, name, None):
            return value
    return _first_attribute(dataset.dataset, *names) if hasattr(dataset, "dataset") else None


def _tensors(batch: object) -> Iterator[torch.Tensor]:
    if isinstance(batch, torch.Tensor):
        yield batch
    elif isinstance(batch, Mapping):
        for value in batch.values():
            yield from _tensors(value)
    elif isinstance(batch, list | tuple):
        for value in batch:
            yield from _tensors(value)


def _cache(files: Files | None) -> CacheState | None:
    return None if files is None else page_cache.resident(files)


def _result(
    label: str, epochs: list[Epoch], loader: Loader, device: torch.device, cache: CacheState | None
) -> BenchmarkResult:
    size, workers = getattr(loader, "batch_size", None), getattr(loader, "num_workers", None)
    return BenchmarkResult(label, tuple(epochs), cache, device, size, workers)

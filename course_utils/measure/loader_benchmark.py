"""How fast a dataset or a loader delivers batches to a device, and in what state the page cache was.

Example:
    >>> from course_utils.measure.loader_benchmark import benchmark, compare
    >>> benchmark(dataset, epochs=3, batch_size=64, num_workers=2, persistent_workers=True,
    ...           pin_memory=True, device="cpu", repeats=3)                  # doctest: +SKIP
    JpegDataset: 2710 images/s on cpu; 0.738 s per later epoch (0.731 to 0.762 s, 6 epochs ...
"""

import contextlib
import sys
from collections.abc import Iterable, Mapping
from functools import reduce

import torch
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

from course_utils.loading import dataloader_kwargs, make_loader
from course_utils.measure.epoch_timing import time_epoch
from course_utils.measure.results import BenchmarkResult, Epoch
from course_utils.storage import CacheState, PathLike, page_cache
from course_utils.system import one_thread

__all__ = ["BenchmarkResult", "benchmark", "compare", "dataloader_kwargs"]


def benchmark(
    dataset: Dataset | Iterable,
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
    files: PathLike | Iterable[PathLike] | None = None,
    progress: bool = False,
    **loader_options: object,
) -> BenchmarkResult:
    """Time epochs over a dataset, with each batch moved to a device.

    Like its workers, the process that loads a dataset computes with one thread meanwhile: what is measured is
    loading on as many cores as there are workers (one for 0 workers). A ready loader keeps its threads.

    Args:
        dataset: a dataset, for which a ``DataLoader`` is made in each repeat; or a ready loader (any object
            that yields batches each time it is iterated), which has settled ``batch_size``, ``num_workers``,
            ``persistent_workers`` and ``pin_memory`` itself: they are given as None.
        epochs: passes over the data, at least 1 (2 with ``warm_start``).
        batch_size: samples in a batch.
        num_workers: processes that load; 0 loads in this one.
        persistent_workers: keep the workers between epochs; without workers it means nothing.
        pin_memory: copy batches to page-locked memory first; without an accelerator it means nothing.
        device: where each batch goes.
        shuffle: a new order in each epoch, the same orders in each call.
        warm_start: leave the first epoch of each repeat out of the result.
        repeats: how often all of it is done, with new workers each time.
        cold_start: evict the files from the page cache before each repeat.
        label: what to call the result; by default the class of the dataset. A dataset that is a model says so
            itself (its ``benchmark_note`` is appended).
        files: whose page cache is looked at; by default the dataset's own ``paths`` or ``path``.
        progress: show a bar on stdout.
        **loader_options: more for `course_utils.loading.dataloader.make_loader`: ``start_method``, ``prefetch_factor``,
            ``seed``, ``collate_fn``, ...

    Raises:
        ValueError: Numbers that cannot give a result, or settings for a loader that has its own.
    """
    _refuse_impossible(epochs, repeats, warm_start, cold_start)
    watched = _ask(dataset, "paths", "path") if files is None else files
    if cold_start and watched is None:
        raise ValueError("cold_start evicts the files of the dataset, which are not known: give files=...")
    settings = {
        "batch_size": batch_size,
        "num_workers": num_workers,
        "persistent_workers": persistent_workers,
        "pin_memory": pin_memory,
    }
    device = torch.device(device)
    torch.zeros(1, device=device)  # starting an accelerator takes seconds that belong to no epoch
    note = _ask(dataset, "benchmark_note")
    label = (label or type(dataset).__name__) + (f" ({note})" if note else "")
    results = []
    threads = contextlib.nullcontext() if _is_ready_loader(dataset) else one_thread()
    bar = tqdm(total=repeats * epochs, desc=label, unit="epoch", file=sys.stdout, disable=not progress)
    with threads, bar:
        for _ in range(repeats):
            if cold_start:
                page_cache.evict(watched)
            loader = _loader(dataset, shuffle, settings, loader_options)
            timed = []
            for number in range(epochs):
                timed.append(time_epoch(loader, number, device, _cache(watched)))
                bar.update()
            results.append(_result(label, timed[warm_start:], loader, device, _cache(watched)))
            del loader  # its persistent workers end here, before the next ones start
    return reduce(BenchmarkResult.merge, results)


def compare(
    datasets: Mapping[str, Dataset | Iterable],
    *,
    repeats: int = 3,
    progress: bool = False,
    **settings: object,
) -> list[BenchmarkResult]:
    """Benchmark several datasets in turn, over and over, so that a busy moment hits all of them alike.

    Args:
        datasets: label to dataset or ready loader.
        repeats: rounds; in each of them every dataset has one turn.
        progress: show a bar on stdout.
        **settings: the same parameters of `benchmark` for all.

    Returns:
        One result for each dataset, in their order.
    """
    rounds = tqdm(range(repeats), desc="rounds", file=sys.stdout, disable=not progress)
    turns = [
        [benchmark(dataset, label=label, **settings) for label, dataset in datasets.items()] for _ in rounds
    ]
    return [reduce(BenchmarkResult.merge, results) for results in zip(*turns, strict=True)]


def _refuse_impossible(epochs: int, repeats: int, warm_start: bool, cold_start: bool) -> None:
    if epochs < 1 or repeats < 1:
        raise ValueError(f"epochs={epochs}, repeats={repeats}: without an epoch there is nothing to time")
    if warm_start and epochs == 1:
        raise ValueError(
            "warm_start=True leaves the first epoch out of the result, and with epochs=1 nothing is left: "
            "ask for epochs=2 or more, or for warm_start=False"
        )
    if warm_start and cold_start:
        raise ValueError("a cold start shows in the first epoch, which warm_start leaves out: choose one")


def _loader(dataset: Dataset | Iterable, shuffle: bool, settings: dict, options: dict) -> Iterable:
    if not _is_ready_loader(dataset):
        return make_loader(dataset, shuffle=shuffle, **settings, **options)
    given = [name for name, value in {**settings, **options}.items() if value is not None]
    if given:
        raise ValueError(f"a {type(dataset).__name__} has settled {', '.join(given)} itself: give None")
    return dataset


def _is_ready_loader(dataset: Dataset | Iterable) -> bool:
    return isinstance(dataset, DataLoader) or not (
        isinstance(dataset, Dataset) or hasattr(dataset, "__getitem__")
    )


def _ask(dataset: object, *names: str) -> object:
    """Give the first of some attributes that a dataset has, or the one that it wraps (`Subset`, a loader)."""
    for name in names:
        if answer := getattr(dataset, name, None):
            return answer
    return _ask(dataset.dataset, *names) if hasattr(dataset, "dataset") else None


def _cache(watched: PathLike | Iterable[PathLike] | None) -> CacheState | None:
    return None if watched is None else page_cache.resident(watched)


def _result(
    label: str, epochs: list[Epoch], loader: Iterable, device: torch.device, cache: CacheState | None
) -> BenchmarkResult:
    size, workers = getattr(loader, "batch_size", None), getattr(loader, "num_workers", None)
    return BenchmarkResult(label, tuple(epochs), cache, device, size, workers)

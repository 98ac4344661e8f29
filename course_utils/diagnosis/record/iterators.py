"""Hooks in the iterators of `DataLoader`: how they are made, asked and ended, and how workers start."""

import functools
import sys
from collections.abc import Callable
from typing import Any

from course_utils.diagnosis.facts import process
from course_utils.diagnosis.record.collector import Hooks, collector
from course_utils.diagnosis.record.spool import attempt


def hook(module: Any) -> None:
    """Replace the methods through which every batch passes; names that torch lacks are reported."""
    base, loader_class = module._BaseDataLoaderIter, module.DataLoader
    # The multi-process iterator calls `_reset` of its own, which calls that of the base class.
    for name, replacement in (
        ("__init__", _made), ("_reset", _reset), ("_next_index", _next_index), ("__next__", _next),
    ):  # fmt: skip
        if hasattr(base, name):
            setattr(base, name, functools.wraps(getattr(base, name))(replacement(getattr(base, name))))
        else:
            Hooks.missing.append(name)
    if Hooks.replay:
        loader_class._get_iterator = _replaying(loader_class._get_iterator)
    loader_class._get_iterator = _with_watched_workers(loader_class._get_iterator)


def _made(init: Callable[..., None]) -> Callable[..., None]:
    def made(iterator: Any, loader: Any, *args: Any, **kwargs: Any) -> None:
        attempt(_begin, iterator, loader)
        init(iterator, loader, *args, **kwargs)

    return made


def _begin(iterator: Any, loader: Any) -> None:
    name = collector().made(iterator, loader)
    if _is_ours(start := loader.__dict__.get("worker_init_fn")):
        start.epoch = name


def _is_ours(function: Any) -> bool:
    return type(function).__name__ == "WorkerStart"


def _reset(reset: Callable[..., None]) -> Callable[..., None]:
    def again(iterator: Any, loader: Any = None, first_iter: bool = False, *args: Any, **kwargs: Any) -> None:
        if not first_iter and loader is not None and Hooks.collector is not None:
            attempt(Hooks.collector.again, iterator, loader)
        reset(iterator, loader, first_iter, *args, **kwargs)

    return again


def _next_index(next_index: Callable[..., Any]) -> Callable[..., Any]:
    def asked(iterator: Any) -> Any:
        begin = process.now()
        index = next_index(iterator)
        if Hooks.collector is not None:
            attempt(Hooks.collector.asked, iterator, index, process.now() - begin)
        return index

    return asked


def _next(next_batch: Callable[..., Any]) -> Callable[..., Any]:
    def timed(iterator: Any) -> Any:
        found = Hooks.collector
        row = attempt(found.entered, iterator) if found is not None and iterator in found.epochs else None
        if row is None:
            return next_batch(iterator)
        try:
            batch = next_batch(iterator)
        except StopIteration:
            attempt(found.finished, iterator)
            raise
        attempt(found.left, iterator, row, batch)
        return batch

    return timed


def _with_watched_workers(original: Callable[..., Any]) -> Callable[..., Any]:
    """Put an object that measures in the place of `worker_init_fn`, only while the workers are started."""

    @functools.wraps(original)
    def made(loader: Any, *args: Any, **kwargs: Any) -> Any:
        function = loader.worker_init_fn
        start = None
        if getattr(loader, "num_workers", 0) and not _is_ours(function):
            start = attempt(_start_of, function)
        if start is None:
            return original(loader, *args, **kwargs)
        begin, loader.worker_init_fn = process.now(), start
        try:
            iterator = original(loader, *args, **kwargs)
        finally:
            loader.worker_init_fn = function
        epoch = collector().epochs.get(iterator)
        if epoch is not None:
            epoch.begun, epoch.made = begin, process.now()
        return iterator

    return made


def _start_of(function: Callable[[int], Any] | None) -> Any:
    from course_utils.diagnosis.record.worker import Log, WorkerStart  # they import torch

    if Log.latest:  # nobody should fork beside a thread
        Log.latest.sampler.stop()
    return WorkerStart(function, Hooks.folder, "0.0", process.readable_files())


def _replaying(original: Callable[..., Any]) -> Callable[..., Any]:
    """Make iterators that ask the sampler as before, and load one batch: the upper bound."""

    @functools.wraps(original)
    def made(loader: Any, *args: Any, **kwargs: Any) -> Any:
        workers, timeout = loader.num_workers, loader.timeout
        module: Any = sys.modules["torch.utils.data.dataloader"]
        loader.num_workers, loader.timeout = 0, 0
        try:
            iterator = module._SingleProcessDataLoaderIter(loader)
        finally:
            loader.num_workers, loader.timeout = workers, timeout
        load = iterator._next_data
        batches = loader.__dict__.setdefault("_diagnosis_batch", [])

        def next_data() -> Any:
            if not batches:
                batches.append(load())
            else:
                iterator._next_index()
            return batches[0]

        iterator._next_data = next_data
        return iterator

    return made

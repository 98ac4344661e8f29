"""Loaders that are not `DataLoader`: a class whose iterators are timed, or a function that makes a loader."""

import importlib
from types import ModuleType
from typing import Any

from course_utils.diagnosis.facts import process
from course_utils.diagnosis.record.collector import Hooks, collector
from course_utils.diagnosis.record.imports import after_import
from course_utils.diagnosis.record.spool import complain

EPOCHS, SECONDS = 2, 20.0


class Description:
    """What a collector asks of a `DataLoader`, for a loader of another kind."""

    num_workers, batch_size, sampler, batch_sampler, drop_last = 0, None, None, None, False
    pin_memory, persistent_workers, _dataset_kind, collate_fn = False, False, 1, staticmethod(iter)

    def __init__(self, loader: Any) -> None:
        self.dataset = loader


class Timed:
    """An iterator whose batches are waited for as those of a `DataLoader`."""

    def __init__(self, iterator: Any, loader: Any) -> None:
        self._iterator, self._description = iterator, Description(loader)
        collector().made(self, self._description)

    def __iter__(self) -> "Timed":
        return self

    def __next__(self) -> Any:
        seen = Hooks.collector
        row = seen.entered(self)
        try:
            batch = next(self._iterator)
        except StopIteration:
            seen.finished(self)
            raise
        seen.left(self, row, batch)
        return batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)


def watch(name: str) -> None:
    """Time the iterators of the class that `module:class` names, once it is imported."""
    module, _, attribute = name.partition(":")

    def hook(found: ModuleType) -> None:
        loader_class = getattr(found, attribute)
        iterate = loader_class.__iter__

        def timed(loader: Any) -> Any:
            iterator = iterate(loader)
            try:
                return Timed(iterator, loader)
            except Exception as error:
                complain(f"the record of {name}", error)
                return iterator

        loader_class.__iter__ = timed

    after_import({module: hook})


def iterate_loader(name: str) -> None:
    """Call the function that `module:function` names, and take the batches of the loader that it returns."""
    module, _, function = name.partition(":")
    loader = getattr(importlib.import_module(module), function)()
    for _ in range(EPOCHS):
        begin = process.now()
        for _batch in loader:
            if process.now() - begin > SECONDS:
                break

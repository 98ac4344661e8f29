"""Read any dataset as if its files were on a shared file system: a MODEL (`course_utils.storage.shared_fs`).

Example:
    >>> from course_utils.storage import ModelledDataset, SharedFilesystem
    >>> slow = ModelledDataset(lambda: JpegDataset(path), SharedFilesystem(load=0.8))   # doctest: +SKIP
    >>> benchmark(slow, 1, 32, 8, False, False, "cpu", label="JPEG files")              # doctest: +SKIP
    JPEG files (model of a shared file system, load 80 %): 103 images/s on cpu; ...
"""

import threading
import time
import weakref
from collections.abc import Callable, Sized
from dataclasses import astuple
from typing import TypeVar, cast

from torch.utils.data import Dataset

from course_utils.storage import io_hooks
from course_utils.storage.io_counter import FIELDS, FileOps
from course_utils.storage.shared_fs import SharedFilesystem

__all__ = ["ModelledDataset"]

Result = TypeVar("Result")


class ModelledDataset(Dataset[object]):
    """A map-style dataset that takes as long as if its files were on a shared file system.

    The dataset is constructed here, so that the files that it opens are counted. Benchmarks append the note
    that this is a model to its label.

    Args:
        make_dataset: constructs the dataset and opens its files; called without arguments.
        filesystem: parameters of the model.
    """

    def __init__(self, make_dataset: Callable[[], Dataset[object]], filesystem: SharedFilesystem) -> None:
        self._attach(_ThreadCounter(), filesystem)
        self._inner = self._delayed(make_dataset)

    @property
    def benchmark_note(self) -> str:
        """Note that a benchmark appends to the label of a result."""
        return self.filesystem.label

    def __len__(self) -> int:
        return len(cast(Sized, self._inner))  # torch's Dataset does not declare __len__

    def __getitem__(self, index: int) -> object:
        return self._delayed(lambda: self._inner[index])

    def __getattr__(self, name: str) -> object:
        """Return an attribute of the wrapped dataset (``labels``, ``names``), except its files.

        The page cache of this machine says nothing about a shared file system.
        """
        if name.startswith("_") or name in ("path", "paths", "dataset"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __reduce__(self) -> tuple[Callable[..., "ModelledDataset"], tuple[object, ...]]:
        # The order matters: a spawned worker imports the dataset's module, starts counting, then unpickles
        # the dataset.
        return _unpickle, (type(self._inner), self._counter, self._inner, self.filesystem)

    def _attach(self, counter: "_ThreadCounter", filesystem: SharedFilesystem) -> None:
        self.filesystem, self._counter, self._sleep = filesystem, counter, _CompensatedSleep()
        weakref.finalize(self, io_hooks.remove_listener, counter.record)

    def _delayed(self, read: Callable[[], Result]) -> Result:
        before = self._counter.total()
        with io_hooks.buffer_size(self.filesystem.block_bytes):
            result = read()
        self._sleep.add(self.filesystem.seconds(self._counter.total() - before))
        return result


class _ThreadCounter:
    """Count the operations of each thread of this process, from construction or unpickling on."""

    def __init__(self) -> None:
        self._local = threading.local()
        io_hooks.add_listener(self.record)

    def record(self, kind: io_hooks.Kind, nbytes: int) -> None:
        counts = self._counts()
        counts[FIELDS.index(kind)] += 1
        counts[-1] += nbytes

    def total(self) -> FileOps:
        """Return the counts of the calling thread."""
        return FileOps(*self._counts())

    def __reduce__(self) -> tuple[type["_ThreadCounter"], tuple[()]]:
        return _ThreadCounter, ()

    def _counts(self) -> list[int]:
        if not hasattr(self._local, "counts"):
            self._local.counts = list(astuple(FileOps()))
        counts: list[int] = self._local.counts
        return counts


class _CompensatedSleep:
    """Sleep for the requested total: each sleep lasts too long, so the next ones are shortened."""

    def __init__(self) -> None:
        self._owed = 0.0

    def add(self, seconds: float) -> None:
        self._owed += seconds
        if self._owed > 0:
            start = time.perf_counter()
            time.sleep(self._owed)
            self._owed -= time.perf_counter() - start


def _unpickle(
    kind: type, counter: _ThreadCounter, inner: Dataset[object], filesystem: SharedFilesystem
) -> ModelledDataset:
    del kind  # only imports the dataset's module before `counter` starts to count
    dataset = ModelledDataset.__new__(ModelledDataset)
    dataset._attach(counter, filesystem)
    dataset._inner = inner
    return dataset

"""Read any dataset as if its files were on a shared file system: a MODEL, see `course_utils.storage.shared_fs`.

Example:
    >>> from course_utils.storage.shared_fs_dataset import ModelledDataset
    >>> from course_utils.storage.shared_fs import SharedFilesystem
    >>> slow = ModelledDataset(lambda: JpegDataset(path), SharedFilesystem(load=0.8))   # doctest: +SKIP
    >>> benchmark(slow, 1, 32, 8, False, False, "cpu", label="JPEG files")              # doctest: +SKIP
    JPEG files (model of a shared file system, load 80 %): 103 images/s on cpu; ...
"""

import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import astuple

from torch.utils.data import Dataset

from course_utils.storage import io_hooks
from course_utils.storage.io_counter import KINDS, FileOps
from course_utils.storage.shared_fs import SharedFilesystem

__all__ = ["ModelledDataset"]


class ModelledDataset(Dataset):
    """Any map-style dataset, read as if its files were on a shared file system.

    The dataset is made here, so that the files that it opens are seen. In benchmarks its label says that this
    is a model.

    Args:
        make_dataset: makes the dataset, and opens its files, when called without arguments.
        filesystem: the parameters of the model.
    """

    def __init__(self, make_dataset: Callable[[], Dataset], filesystem: SharedFilesystem) -> None:
        self._start(_Tally(), filesystem)
        self._inner = self._slowly(make_dataset)

    @property
    def benchmark_note(self) -> str:
        """What a benchmark appends to the label of a result."""
        return self.filesystem.label

    def __len__(self) -> int:
        return len(self._inner)

    def __getitem__(self, index: int) -> object:
        return self._slowly(lambda: self._inner[index])

    def __getattr__(self, name: str) -> object:
        """Give what the dataset itself has (``labels``, ``names``), its files excepted.

        The page cache of this machine says nothing about a shared file system.
        """
        if name.startswith("_") or name in ("path", "paths", "dataset"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __reduce__(self) -> tuple:
        # In this order a started process imports the dataset's module, listens, and then unpickles it.
        return _revive, (type(self._inner), self._tally, self._inner, self.filesystem)

    def _start(self, tally: "_Tally", filesystem: SharedFilesystem) -> None:
        self.filesystem, self._tally, self._wait = filesystem, tally, _Wait()
        weakref.finalize(self, io_hooks.stop_listening, tally.note)

    def _slowly(self, work: Callable[[], object]) -> object:
        before = self._tally.here()
        result = work()
        self._wait.add(self.filesystem.seconds(self._tally.here() - before))
        return result


class _Tally:
    """Operations of each thread of this process, from when it was made or unpickled."""

    def __init__(self) -> None:
        self._mine = threading.local()
        io_hooks.listen(self.note)

    def note(self, kind: str, nbytes: int) -> None:
        counts = self._counts()
        counts[KINDS.index(kind)] += 1
        counts[-1] += nbytes

    def here(self) -> FileOps:
        return FileOps(*self._counts())

    def __reduce__(self) -> tuple:
        return _Tally, ()

    def _counts(self) -> list[int]:
        if not hasattr(self._mine, "counts"):
            self._mine.counts = list(astuple(FileOps()))
        return self._mine.counts


class _Wait:
    """Sleep as long as asked for on the whole, though each sleep takes a little longer than it should."""

    def __init__(self) -> None:
        self._owed = 0.0

    def add(self, seconds: float) -> None:
        self._owed += seconds
        if self._owed > 0:
            start = time.perf_counter()
            time.sleep(self._owed)
            self._owed -= time.perf_counter() - start


def _revive(kind: type, tally: _Tally, inner: Dataset, filesystem: SharedFilesystem) -> ModelledDataset:
    del kind  # unpickled first, for the import of its module
    revived = ModelledDataset.__new__(ModelledDataset)
    revived._start(tally, filesystem)
    revived._inner = inner
    return revived

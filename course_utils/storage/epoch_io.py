"""Count the file operations of one epoch over a dataset, workers included.

Example:
    >>> from course_utils.storage import count_epoch
    >>> ops = count_epoch(lambda: JpegDataset("data/disk_transformed"), num_workers=2)   # doctest: +SKIP
    >>> ops.epoch                                                                          # doctest: +SKIP
    2,000 opens, 2,000 stats, 6,000 reads, 45.3 MB
    >>> ops.epoch.for_users(500)                                                           # doctest: +SKIP
    'Your job × 500 users, one epoch each: 1,000,000 opens, ...'
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from typing import Any, cast

from torch.utils.data import Dataset, IterableDataset

from course_utils.loading import make_loader
from course_utils.storage.io_counter import FileOps, OperationCounter, count_operations, kernel_reads
from course_utils.storage.io_hooks import BUFFER_BYTES

__all__ = ["EpochOps", "UncountedReadsError", "count_epoch"]


@dataclass(frozen=True)
class EpochOps:
    """File operations of constructing a dataset and of reading all of it once.

    Args:
        opening: operations while the dataset is constructed.
        epoch: operations of reading every sample once, in all processes together.
        samples: number of samples.
    """

    opening: FileOps
    epoch: FileOps
    samples: int


def count_epoch(
    make_dataset: Callable[[], Dataset[object]],
    num_workers: int = 0,
    batch_size: int = 32,
    shuffle: bool = False,
    buffer_bytes: int = BUFFER_BYTES,
    **loader_options: Any,  # noqa: ANN401 - whatever DataLoader accepts
) -> EpochOps:
    """Construct a dataset, read all of it once, and count the file operations of both.

    Counts are reproducible for the same files, batches and workers. In order, a reader of a packed file finds
    part of the next member in its buffer; shuffled, it rarely does and needs more reads. Trainings shuffle.

    Args:
        make_dataset: constructs the dataset and opens its files; called without arguments.
        num_workers: processes that read; 0 reads in this one.
        batch_size: samples per batch.
        shuffle: read in a random order, the same in each call.
        buffer_bytes: buffer of files opened without an explicit one, as if the file system reported this
            ``st_blksize``.
        **loader_options: further arguments of `course_utils.loading.make_loader`.

    Raises:
        UncountedReadsError: The dataset reads in a way that the counter cannot see.
        TypeError: `make_dataset` is a dataset, not a function that makes one.
    """
    if not callable(make_dataset) or isinstance(make_dataset, Dataset):
        raise TypeError("pass a function that makes the dataset, such as lambda: ZIPDataset(path)")
    with count_operations(buffer_bytes) as counter:
        dataset = make_dataset()
        opening = counter.total()
        wrapper = _CountedStream if isinstance(dataset, IterableDataset) else _CountedDataset
        counted = wrapper(type(dataset), counter, dataset)
        loader = make_loader(
            counted, batch_size, num_workers, shuffle=shuffle, collate_fn=list, **loader_options
        )
        uncounted = [sample for batch in loader for sample in batch]
    if 2 * sum(uncounted) > len(uncounted):
        raise UncountedReadsError(
            "The kernel counted more reads than count_epoch. Either a file was open before counting started: "
            "open it in the function that is passed to count_epoch. Or a C library reads the files: "
            "course_utils.storage.strace counts those reads, where strace is installed."
        )
    return EpochOps(opening, counter.total() - opening, len(uncounted))


class UncountedReadsError(RuntimeError):
    """The kernel counted reads that the counter missed."""


class _CountedDataset(Dataset[bool]):
    """Count only what the wrapped dataset does; each sample says whether the counter missed reads.

    Operations outside the dataset, such as starting workers, are not counted.
    """

    def __init__(self, kind: type, counter: OperationCounter, dataset: Dataset[object]) -> None:
        self.kind, self.counter, self.dataset = kind, counter, dataset
        counter.paused = True

    def __reduce__(self) -> tuple[type, tuple[type, OperationCounter, Dataset[object]]]:
        # The order matters: a spawned worker imports the dataset's module, starts counting, then unpickles
        # the dataset. So files that unpickling opens are counted, and those of imports are not.
        return type(self), (self.kind, self.counter, self.dataset)

    def __len__(self) -> int:
        return len(cast(Sized, self.dataset))  # torch's Dataset does not declare __len__

    def __getitem__(self, index: int) -> bool:
        before, counted = kernel_reads(), self.counter.process_total().reads
        with self._counting():
            self.dataset[index]
        counted = self.counter.process_total().reads - counted
        after = kernel_reads()
        return before is not None and after is not None and after - before - 1 > counted

    @contextlib.contextmanager
    def _counting(self) -> Iterator[None]:
        self.counter.paused = False
        try:
            yield
        finally:
            self.counter.paused = True


class _CountedStream(_CountedDataset, IterableDataset[bool]):
    """The same for an iterable dataset, without the check for missed reads."""

    def __iter__(self) -> Iterator[bool]:
        with self._counting():
            for _ in cast(Iterable[object], self.dataset):
                yield False

"""The file operations of one epoch over a dataset, in whatever processes it is read.

Example:
    >>> from course_utils.storage.epoch_io import count_epoch
    >>> ops = count_epoch(lambda: JpegDataset("data/disk_transformed"), num_workers=2)   # doctest: +SKIP
    >>> ops.epoch                                                                          # doctest: +SKIP
    2,000 opens, 2,000 stats, 6,000 reads, 45.3 MB
    >>> ops.epoch.for_users(500)                                                           # doctest: +SKIP
    'Your job × 500 users, one epoch each: 1,000,000 opens, ...'
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch.utils.data import Dataset, IterableDataset

from course_utils.loading import make_loader
from course_utils.storage.io_counter import FileOps, OperationCounter, count_operations, kernel_reads

__all__ = ["EpochOps", "count_epoch"]


@dataclass(frozen=True)
class EpochOps:
    """File operations of making a dataset and of reading all of it once.

    Args:
        opening: what making the dataset asked for.
        epoch: what reading every sample once asked for, in all processes together.
        samples: how many samples there were.
    """

    opening: FileOps
    epoch: FileOps
    samples: int


def count_epoch(
    make_dataset: Callable[[], Dataset],
    num_workers: int = 0,
    batch_size: int = 32,
    shuffle: bool = False,
    **loader_options: object,
) -> EpochOps:
    """Make a dataset, read all of it once, and count the file operations of both.

    The count is the same each time for the same files, batches and workers. Shuffling changes it a little: a
    reader of a packed file finds the next member in its buffer now and then.

    Args:
        make_dataset: makes the dataset, and opens its files, when called without arguments.
        num_workers: processes that read; 0 reads in this one.
        batch_size: samples in a batch.
        shuffle: read in a random, but always the same order.
        **loader_options: more for `course_utils.loading.dataloader.make_loader`.

    Raises:
        UncountedReadsError: The dataset reads in a way that the counter cannot see.
        TypeError: A dataset was given, and not a function that makes one.
    """
    if not callable(make_dataset) or isinstance(make_dataset, Dataset):
        raise TypeError("give a function that makes the dataset, like lambda: ZIPDataset(path)")
    with count_operations() as counter:
        dataset = make_dataset()
        opening = counter.total()
        wrapper = _CountedStream if isinstance(dataset, IterableDataset) else _Counted
        counted = wrapper(type(dataset), counter, dataset)
        loader = make_loader(
            counted, batch_size, num_workers, shuffle=shuffle, collate_fn=list, **loader_options
        )
        escaped = [some for batch in loader for some in batch]
    if 2 * sum(escaped) > len(escaped):
        raise UncountedReadsError(
            "The kernel saw more reads than the counter. Either a file was open before counting began: let "
            "the function given to count_epoch open it. Or a library in C reads the files: "
            "course_utils.storage.strace counts those where strace is installed."
        )
    return EpochOps(opening, counter.total() - opening, len(escaped))


class UncountedReadsError(RuntimeError):
    """The kernel saw reads that the counter did not see."""


class _Counted(Dataset):
    """Read a dataset with counting on, and hand out only whether reads escaped the count.

    What happens outside the dataset (starting workers, for one) is not counted.
    """

    def __init__(self, kind: type, counter: OperationCounter, dataset: Dataset) -> None:
        self.kind, self.counter, self.dataset = kind, counter, dataset
        counter.paused = True

    def __reduce__(self) -> tuple:
        # In this order a started process imports the module of the dataset, then begins to count, then
        # unpickles the dataset: files that are opened by that are counted, those of imports are not.
        return type(self), (self.kind, self.counter, self.dataset)

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> bool:
        kernel, counted = kernel_reads(), self.counter.here().reads
        with self._counting():
            self.dataset[index]
        counted = self.counter.here().reads - counted
        return kernel is not None and kernel_reads() - kernel - 1 > counted

    @contextlib.contextmanager
    def _counting(self) -> Iterator[None]:
        self.counter.paused = False
        try:
            yield
        finally:
            self.counter.paused = True


class _CountedStream(_Counted, IterableDataset):
    """The same for a stream of samples, without the look at what escaped."""

    def __iter__(self) -> Iterator[bool]:
        with self._counting():
            for _ in self.dataset:
                yield False

"""Iterate over the batches of one epoch, and end its threads however the iteration ends."""

import os
from collections.abc import Callable, Iterator
from typing import Self

from course_utils.loading.decoder_threads import DecoderThreads
from course_utils.loading.device_prefetch import Batch


class EpochIterator(Iterator[Batch]):
    """The batches of an epoch.

    It has no finalizer: when it is gone, its threads end by themselves, and nothing says that it is open.

    Args:
        threads: Number of threads.
        batches: Returns the batches that these threads decode.
    """

    def __init__(self, threads: int, batches: Callable[[DecoderThreads], Iterator[Batch]]) -> None:
        self._process, self._closed = os.getpid(), False
        self._threads = DecoderThreads(threads, self)
        self._batches = batches(self._threads)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        if self._closed:
            raise StopIteration
        try:
            return next(self._batches)
        except BaseException:  # the end of the epoch too
            self.close()
            raise

    def close(self) -> None:
        """End the iteration, and wait for its threads; may be repeated."""
        self._closed = True
        self._threads.stop()

    @property
    def is_open(self) -> bool:
        """Whether it may continue in this process; a forked child has a copy without threads."""
        return not self._closed and self._process == os.getpid()

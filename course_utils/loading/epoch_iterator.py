"""Iterate over the batches of one epoch, and end its threads however the iteration ends."""

import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import takewhile
from typing import NoReturn, Self

from course_utils.loading.decoder_threads import DecoderThreads, StoppedError
from course_utils.loading.device_prefetch import Batch


class EpochIterator(Iterator[Batch]):
    """The batches of an epoch, for one thread at a time; any thread may `close` it.

    It has no finalizer: when it is gone, its threads end by themselves, and nothing says that it is open.
    """

    def __init__(self) -> None:
        self._process, self._closed = os.getpid(), False
        self._threads: DecoderThreads | None = None
        self._batches: Iterator[Batch] = iter(())

    def start(self, threads: int, batches: Callable[[DecoderThreads], Iterator[Batch]]) -> None:
        """Start the threads.

        Args:
            threads: Number of threads.
            batches: Returns the batches that these threads decode.

        Raises:
            RuntimeError: The system refuses to start as many threads.
        """
        self._threads = DecoderThreads(threads, self)
        self._batches = batches(self._threads)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        """Return the next batch.

        Raises:
            StopIteration: The epoch is over, or the iteration is closed: before, or while this waits.
            RuntimeError: Another thread is waiting for a batch, or this process is a fork of the one that
                has the threads.
        """
        if self._closed:
            raise StopIteration
        if self._process != os.getpid():
            raise RuntimeError(
                "this iteration belongs to the parent process, and its threads do not exist in a forked "
                "child: begin another one with iter(loader)"
            )
        try:
            return next(self._batches)
        except BaseException as error:  # the end of the epoch too
            if _is_in_use(error):
                raise RuntimeError(
                    "another thread is waiting for a batch of this iteration: let only one thread call "
                    "next(), and pass its batches on through a queue.Queue"
                ) from None
            self.close()
            if isinstance(error, StoppedError):
                raise StopIteration from None
            raise

    def close(self) -> None:
        """End the iteration, and wait for its threads; may be repeated, and called by any thread.

        A `next` that waits in another thread raises StopIteration, as every later one does.
        """
        self._closed = True
        if self._threads and self._process == os.getpid():
            self._threads.stop()

    @property
    def is_open(self) -> bool:
        """Whether it may continue in this process; a forked child has a copy without threads."""
        return not self._closed and self._process == os.getpid()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an open iteration cannot be copied or pickled: its threads serve one alone")


def _is_in_use(error: BaseException) -> bool:
    """Return whether a generator refused a second thread: what it raises itself comes from a frame of its."""
    return type(error) is ValueError and (error.__traceback__ is None or error.__traceback__.tb_next is None)


class OneIteration:
    """Lets one iteration be open at a time, also where two threads begin one at once."""

    def __init__(self) -> None:
        self._begun: list[weakref.ref[EpochIterator]] = []

    def begin(self, iterator: EpochIterator) -> None:
        """Note an iteration.

        Raises:
            RuntimeError: An earlier one is still open.
        """
        mine = weakref.ref(iterator)
        self._begun.append(mine)  # atomic: of two threads, one is the earlier
        for earlier in takewhile(lambda reference: reference is not mine, tuple(self._begun)):
            other = earlier()
            if other and other.is_open:
                iterator.close()
                raise RuntimeError(
                    "another iteration over this loader is still open: finish or close() it first"
                )
            with suppress(ValueError):  # another thread has removed it
                self._begun.remove(earlier)

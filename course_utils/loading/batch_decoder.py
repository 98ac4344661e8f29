"""Decode the images of a batch with several threads, each straight into its place in the batch's memory."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
import torch

from course_utils.cropping import Crop
from course_utils.data import BrokenSampleError, PackedImages
from course_utils.loading.broken_images import Broken
from course_utils.loading.buffer_pool import BufferPool
from course_utils.loading.decoder_threads import DecoderThreads, StoppedError
from course_utils.loading.device_prefetch import Batch
from course_utils.loading.sampler import EpochOrder

# Of one request to read ahead, Linux reads a window, usually 128 KiB, and drops the rest without a word. A
# range that does not begin with a page touches one page more.
AT_ONCE = 124 * 1024

Results = SimpleQueue["Broken | BaseException"]


class PendingBatch(NamedTuple):
    """A batch in flight: its image numbers, its memory, and a result from each share."""

    part: np.ndarray
    memory: torch.Tensor
    results: Results


class BatchDecoder:
    """Decodes batches of packed images, whole or cropped.

    Args:
        images: The images.
        order: The order of the epochs, for the size of a batch and the seed of the crops.
        crop: What to cut out of each image; None if all images have the same size.
        shares: Parts into which a batch is split, each for one thread.
        pinned: Use page-locked memory, from which a GPU copies asynchronously.
    """

    def __init__(
        self, images: PackedImages, order: EpochOrder, crop: Crop | None, shares: int, pinned: bool
    ) -> None:
        self.images, self.crop, self.seed, self.shares = images, crop, order.seed, shares
        shape = (*crop.shape, 3) if crop else images.shape
        self._memory = BufferPool((order.batch_size, *shape), pinned=pinned)

    def batches(
        self, threads: DecoderThreads, epoch: int, parts: Iterable[np.ndarray], in_flight: int
    ) -> Iterator[tuple[Batch, np.ndarray, Broken]]:
        """Decode batches, always some at once.

        Args:
            threads: The threads that decode.
            epoch: Number of the epoch, for the crops.
            parts: The image numbers of each batch.
            in_flight: Number of batches being decoded or waiting.

        Yields:
            The images and labels of a batch, the numbers of these images, and which are broken.

        Raises:
            PackError: An image does not fit the others, or a file is no longer the one that was opened.
            OSError: A disk or file server fails.
            StoppedError: The threads have been stopped.
        """
        parts, submit = iter(parts), partial(self._submit, threads, epoch)
        pending = deque(map(submit, islice(parts, in_flight)))
        while pending:
            decoded = self._collect(pending.popleft())
            pending.extend(map(submit, islice(parts, 1)))
            yield decoded

    def _submit(self, threads: DecoderThreads, epoch: int, part: np.ndarray) -> PendingBatch:
        """Split a batch among all threads, so that the first one is complete as soon as possible."""
        for place in self.images.places(part):
            read_ahead(*place)
        pending = PendingBatch(part, self._memory.take(), SimpleQueue())
        pixels, readers = pending.memory.numpy(), self._readers(epoch, part)
        for first in range(self.shares):
            places = range(first, len(part), self.shares)
            threads.submit(partial(_decode, pixels, readers, places, threads.stopped, pending.results))
        return pending

    def _collect(self, pending: PendingBatch) -> tuple[Batch, np.ndarray, Broken]:
        """Wait for a batch; return what `batches` yields."""
        broken: Broken = []
        for _ in range(self.shares):
            result = pending.results.get()
            if isinstance(result, BaseException):
                raise result
            broken += result
        broken.sort()
        images = pending.memory[: len(pending.part)].permute(0, 3, 1, 2)
        return (images, torch.from_numpy(self.images.labels[pending.part])), pending.part, broken

    def _readers(self, epoch: int, part: np.ndarray) -> list[Callable[[np.ndarray], None]]:
        """Return for each image of a batch the function that decodes it into an array."""
        if self.crop is None:
            return [partial(self.images.read_into, i) for i in part.tolist()]
        draws = zip(part.tolist(), self.crop.draw(self.seed, epoch, part), strict=True)
        return [
            partial(self.images.read_cut_into, i, partial(self.crop.cut, drawn=drawn)) for i, drawn in draws
        ]


def _decode(
    pixels: np.ndarray,
    readers: list[Callable[[np.ndarray], None]],
    places: range,
    stopped: list[object],
    results: Results,
) -> None:
    """Decode some images of a batch, in a thread; the result is which are broken, or another error."""
    broken: Broken = []
    try:
        for place in places:
            if stopped:
                results.put(StoppedError())
                return
            try:
                readers[place](pixels[place])
            except BrokenSampleError as error:
                broken.append((place, str(error)))
        results.put(broken)
    except BaseException as error:
        results.put(error)


def read_ahead(fd: int, offsets: np.ndarray, sizes: np.ndarray) -> None:
    """Ask the kernel to read ranges of a file into the page cache, all at once, and do not wait.

    Args:
        fd: The open file.
        offsets: Where the ranges begin, in any order.
        sizes: Their sizes in bytes.
    """
    if not hasattr(os, "posix_fadvise") or not len(offsets):
        return
    order = np.argsort(offsets)
    starts, ends = offsets[order], np.maximum.accumulate((offsets + sizes)[order])
    gaps = np.flatnonzero(starts[1:] > ends[:-1]) + 1  # neighbours are read as one
    firsts, lasts = np.append(0, gaps), np.append(gaps, len(starts)) - 1
    for start, end in zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True):
        for first in range(start, end, AT_ONCE):
            os.posix_fadvise(fd, first, min(AT_ONCE, end - first), os.POSIX_FADV_WILLNEED)

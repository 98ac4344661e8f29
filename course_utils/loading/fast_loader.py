"""A loader that feeds batches from packed files as fast as the cores can decode.

Threads share an offset index (`course_utils.data.zip_index`). Each reads a member with one `pread` and decodes it
straight into its place in a batch, both without the interpreter's lock. So there are no processes, no
pickles, no collate and no tensor per image. The decoder is libjpeg-turbo, by simplejpeg.
"""

import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from course_utils.data import PackedImages, PackError
from course_utils.loading.buffer_pool import BufferPool
from course_utils.loading.device_prefetch import on_device
from course_utils.loading.sampler import EpochOrder
from course_utils.system import usable_cores

Batch = tuple[torch.Tensor, torch.Tensor]
Broken = list[tuple[int, PackError]]
Started = tuple[np.ndarray, torch.Tensor, list[Future]]


class FastLoader:
    """Batches of images, uint8 (N, 3, H, W) in `channels_last`, and of labels, int64 (N,), from stored zips.

    Each `iter` is the next epoch. A batch may be kept: its memory is used again when no tensor refers to it.

    Args:
        path: A zip in the course's format, of JPEG or raw members, or a list of shards.
        batch_size: Images in a batch; fewer in the last, and where broken ones are left out.
        size: Height and width, or one number, to resize to; None where all images have the same size.
        transform: Gets the images of a whole batch, on the GPU if `device` is one.
        device: Where batches go. To a GPU they go from pinned memory, while it computes.
        on_error: "raise" a `PackError` that names file and member of a broken image; "skip" the image; or a
            function that gets the error and returns another image (3, H, W), or None to skip.
        threads: Decoders; None for one on each usable core. They live as long as the iteration.
        in_flight: Batches being decoded or waiting, at least 1. Two more, and the index, are in memory.
        **order: `shuffle`, `seed`, `drop_last`, `rank` and `world_size`, as of `EpochOrder`.
    """

    def __init__(
        self,
        path: str | Path | Sequence[str | Path],
        batch_size: int,
        *,
        size: int | tuple[int, int] | None = None,
        transform: Callable[[torch.Tensor], torch.Tensor] | None = None,
        device: torch.device | str = "cpu",
        on_error: str | Callable[[PackError], torch.Tensor | None] = "raise",
        threads: int | None = None,
        in_flight: int = 3,
        **order: int,
    ) -> None:
        self.images = PackedImages(path, (size, size) if isinstance(size, int) else size)
        self.order = EpochOrder(len(self.images), batch_size, **order)
        self.paths, self.batch_size, self.transform, self.on_error = path, batch_size, transform, on_error
        self.threads, self.in_flight = threads or usable_cores(), max(1, in_flight)
        self.device, self._iterating = torch.device(device), None
        self._memory = BufferPool((batch_size, *self.images.shape), pinned=self.device.type == "cuda")
        # Epoch, and batches of it that were given: now, and where the next `iter` begins.
        self._at = self._next = (0, 0)

    def __len__(self) -> int:
        return len(self.order)

    def state_dict(self) -> dict[str, object]:
        """Return, as plain values, what is iterated over and how far it went: epoch, batches given."""
        return self.order.common() | {"at": list(self._at)}

    def load_state_dict(self, state: dict[str, object]) -> None:
        """Let the next `iter` give the rest of that epoch; ValueError for a state of another loader."""
        if self.order.common() | {"at": state["at"]} != state:
            raise ValueError(f"this state is of another loader: {state}; this one is at {self.state_dict()}")
        self._at = self._next = tuple(state["at"])

    def __iter__(self) -> Iterator[Batch]:
        if self._iterating == os.getpid():  # a forked child may begin its own
            raise RuntimeError("another iteration over this loader is still open: finish or close() it first")
        self._iterating, self._at = os.getpid(), self._next
        self._next = (self._at[0] + 1, 0)
        pool = ThreadPoolExecutor(self.threads, "decoder")
        # An iteration that is still open when the interpreter exits is ended before its modules are gone.
        stop = weakref.finalize(self, pool.shutdown, cancel_futures=True)
        try:
            batches = self._decoded(pool, *self._at)
            if self.device.type == "cuda":
                batches = on_device(batches, self.device, self._transformed)
            for given, batch in batches:
                self._at = (self._next[0] - 1, given)
                if len(batch[1]):
                    yield batch
            self._at = self._next
        finally:
            stop()
            self._iterating = None

    def _decoded(self, pool: ThreadPoolExecutor, epoch: int, given: int) -> Iterator[tuple[int, Batch]]:
        parts = iter(self.order.batches(epoch, given))
        in_flight = deque(self._start(pool, part) for part in islice(parts, self.in_flight))
        while in_flight:
            batch = self._finish(*in_flight.popleft())
            in_flight.extend(self._start(pool, part) for part in islice(parts, 1))
            given += 1
            yield given, batch

    def _start(self, pool: ThreadPoolExecutor, part: np.ndarray) -> Started:
        """Let all threads work at one batch: so the first is there soonest."""
        memory = self._memory.take()
        shares = [range(first, len(part), self.threads) for first in range(self.threads)]
        tasks = [pool.submit(self._decode, memory.numpy(), part.tolist(), share) for share in shares]
        return part, memory, tasks

    def _decode(self, pixels: np.ndarray, part: list[int], places: range) -> Broken:
        broken = []
        for place in places:
            try:
                self.images.read_into(part[place], pixels[place])
            except PackError as error:
                broken.append((place, error))
        return broken

    def _finish(self, part: np.ndarray, memory: torch.Tensor, tasks: list[Future]) -> Batch:
        broken = sorted(found for task in tasks for found in task.result())
        images, labels = memory[: len(part)].permute(0, 3, 1, 2), torch.from_numpy(self.images.labels[part])
        if broken:
            images, labels = self._mend(images, labels, broken)
        return images if self.device.type == "cuda" else self._transformed(images), labels

    def _mend(self, images: torch.Tensor, labels: torch.Tensor, broken: Broken) -> Batch:
        keep = np.ones(len(labels), bool)
        for place, error in broken:
            if self.on_error == "raise":
                raise error
            other = None if self.on_error == "skip" else self.on_error(error)
            keep[place] = other is not None
            if keep[place]:
                images[place] = other
        return images[keep].contiguous(memory_format=torch.channels_last), labels[keep]

    def _transformed(self, images: torch.Tensor) -> torch.Tensor:
        return self.transform(images) if self.transform and len(images) else images

"""Load batches from packed files as fast as the cores can decode.

Threads share an offset index (`course_utils.data.ZipIndex`). Each reads a member with one `pread` and decodes
it directly into its place in a batch, both without the interpreter's lock. So there are no processes, no
pickling, no collating and no tensor per image. The decoder is libjpeg-turbo, through simplejpeg.
"""

import os
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, Unpack

import numpy as np
import torch

from course_utils.data import PackedImages, PackError
from course_utils.loading.buffer_pool import BufferPool
from course_utils.loading.device_prefetch import Batch, prefetch_to_device
from course_utils.loading.sampler import EpochOrder, OrderOptions, SharedSettings
from course_utils.system import usable_cores

Broken = list[tuple[int, PackError]]  # place in the batch, and why the image could not be decoded
OnError = Literal["raise", "skip"] | Callable[[PackError], torch.Tensor | None]


class LoaderState(SharedSettings):
    """State of a `FastLoader`: settings of its order, and the epoch and the number of batches delivered."""

    position: list[int]


class FastLoader:
    """Batches from stored zips: uint8 images (N, 3, H, W) in `channels_last`, and int64 labels (N,).

    Each `iter` starts the next epoch. A batch may be kept: its memory is reused when no tensor refers to it.

    Args:
        path: A pack of JPEG or raw members, or a list of shards.
        batch_size: Images per batch; fewer in the last one, and where broken ones are skipped.
        size: Height and width, or one number for both, to resize to; None if all images have the same size.
        transform: Applied to the images of a whole batch, on the GPU if `device` is one.
        device: Where batches go. A GPU copies them from pinned memory while it computes.
        on_error: "raise" a `PackError` that names file and member of a broken image; "skip" the image; or a
            function that receives the error and returns another image (3, H, W), or None to skip.
        threads: Number of decoding threads; None for one per usable core. They exist during an iteration.
        in_flight: Batches being decoded or waiting, at least 1. Memory holds two more, and the index.
        verify: Compare each member with its checksum; without it, damage may give wrong pixels silently.
        **order: `shuffle`, `seed`, `drop_last`, `rank` and `world_size`, as of `EpochOrder`.

    Raises:
        PackError: A pack is damaged or lacks labels.
        ValueError: An argument is out of range, or members are compressed or encrypted.
    """

    def __init__(
        self,
        path: str | Path | Sequence[str | Path],
        batch_size: int,
        *,
        size: int | tuple[int, int] | None = None,
        transform: Callable[[torch.Tensor], torch.Tensor] | None = None,
        device: torch.device | str = "cpu",
        on_error: OnError = "raise",
        threads: int | None = None,
        in_flight: int = 3,
        verify: bool = True,
        **order: Unpack[OrderOptions],
    ) -> None:
        self.images = PackedImages(path, (size, size) if isinstance(size, int) else size, verify)
        self.order = EpochOrder(len(self.images), batch_size, **order)
        self.paths, self.batch_size, self.transform, self.on_error = path, batch_size, transform, on_error
        self.threads, self.in_flight = threads or usable_cores(), max(1, in_flight)
        self.device = torch.device(device)
        self._iterating_process: int | None = None
        self._memory = BufferPool((batch_size, *self.images.shape), pinned=self.device.type == "cuda")
        # Epoch and number of batches delivered: now, and where the next `iter` starts.
        self._position = self._next = (0, 0)

    def __len__(self) -> int:
        return len(self.order)

    def state_dict(self) -> LoaderState:
        """Return the state from which another loader can resume; it can be written as JSON."""
        return {**self.order.shared_settings(), "position": list(self._position)}

    def load_state_dict(self, state: LoaderState) -> None:
        """Let the next `iter` resume an epoch; ValueError if the state belongs to another loader."""
        own = self.state_dict()
        if state != {**own, "position": state["position"]}:
            raise ValueError(f"this state belongs to another loader: {state}; the state of this one: {own}")
        epoch, delivered = state["position"]
        self._position = self._next = (epoch, delivered)

    def __iter__(self) -> Iterator[Batch]:
        if self._iterating_process == os.getpid():  # a forked child may start its own
            raise RuntimeError("another iteration over this loader is still open: finish or close() it first")
        self._iterating_process, self._position = os.getpid(), self._next
        self._next = (self._position[0] + 1, 0)
        pool = ThreadPoolExecutor(self.threads, "decoder")
        # At interpreter exit this stops an open iteration before the modules that it needs are unloaded.
        stop = weakref.finalize(self, pool.shutdown, cancel_futures=True)
        try:
            batches = self._decoded(pool, *self._position)
            if self.device.type == "cuda":
                batches = prefetch_to_device(batches, self.device, self._transformed)
            for delivered, batch in batches:
                self._position = (self._next[0] - 1, delivered)
                if len(batch[1]):
                    yield batch
            self._position = self._next
        finally:
            stop()
            self._iterating_process = None

    def _decoded(self, pool: ThreadPoolExecutor, epoch: int, delivered: int) -> Iterator[tuple[int, Batch]]:
        parts = iter(self.order.batches(epoch, delivered))
        in_flight = deque(self._submit(pool, part) for part in islice(parts, self.in_flight))
        while in_flight:
            batch = self._collect(in_flight.popleft())
            in_flight.extend(self._submit(pool, part) for part in islice(parts, 1))
            delivered += 1
            yield delivered, batch

    def _submit(self, pool: ThreadPoolExecutor, part: np.ndarray) -> "_Pending":
        """Split a batch among all threads, so that the first one is complete as soon as possible."""
        memory = self._memory.take()
        shares = [range(first, len(part), self.threads) for first in range(self.threads)]
        tasks = [pool.submit(self._decode, memory.numpy(), part.tolist(), share) for share in shares]
        return _Pending(part, memory, tasks)

    def _decode(self, pixels: np.ndarray, part: list[int], places: range) -> Broken:
        broken = []
        for place in places:
            try:
                self.images.read_into(part[place], pixels[place])
            except PackError as error:
                broken.append((place, error))
        return broken

    def _collect(self, pending: "_Pending") -> Batch:
        part = pending.part
        broken = sorted(found for task in pending.tasks for found in task.result())
        images = pending.memory[: len(part)].permute(0, 3, 1, 2)
        labels = torch.from_numpy(self.images.labels[part])
        if broken:
            images, labels = self._without_broken(images, labels, broken)
        return images if self.device.type == "cuda" else self._transformed(images), labels

    def _without_broken(self, images: torch.Tensor, labels: torch.Tensor, broken: Broken) -> Batch:
        keep = np.ones(len(labels), bool)
        for place, error in broken:
            if self.on_error == "raise":
                raise error
            replacement = None if self.on_error == "skip" else self.on_error(error)
            keep[place] = replacement is not None
            if replacement is not None:
                images[place] = replacement
        return images[keep].contiguous(memory_format=torch.channels_last), labels[keep]

    def _transformed(self, images: torch.Tensor) -> torch.Tensor:
        return self.transform(images) if self.transform and len(images) else images


class _Pending(NamedTuple):
    """A batch in flight: its image numbers, its memory, and the tasks that decode into it."""

    part: np.ndarray
    memory: torch.Tensor
    tasks: list[Future[Broken]]

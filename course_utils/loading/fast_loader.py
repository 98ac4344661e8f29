"""Load batches from packed files as fast as the cores can decode.

Threads share an offset index (`course_utils.data.ZipIndex`). Each reads a member with one `pread`, decodes
what a crop needs of it, and resizes that into its place in a batch, all without the interpreter's lock. So
there are no processes, no pickling, no collating and no tensor per image. The decoder is libjpeg-turbo.
"""

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

import torch

from course_utils.cropping import Crop
from course_utils.data import PackedImages, PackError, RawLayout
from course_utils.loading.batch_decoder import BatchDecoder
from course_utils.loading.batch_transforms import BatchTransform, Step, transformed
from course_utils.loading.broken_images import OnError, require_policy, without_broken
from course_utils.loading.decoder_threads import DecoderThreads
from course_utils.loading.device_prefetch import Batch, prefetch_to_device
from course_utils.loading.epoch_iterator import EpochIterator
from course_utils.loading.loader_state import LoaderState, Position, Source, position_from, state_at
from course_utils.loading.sampler import EpochOrder, OrderOptions
from course_utils.system import usable_cores


class FastLoader:
    """Batches from stored zips: uint8 images (N, 3, H, W) in `channels_last`, and int64 labels (N,).

    Each `iter` starts the next epoch. A batch may be kept: its memory is reused when no tensor refers to it.

    Args:
        path: A pack of JPEG or raw members, or a list of shards.
        batch_size: Images per batch; fewer in the last one, and where broken ones are skipped.
        crop: What to cut out of each image: `RandomResizedCrop`, `ResizeCenterCrop` or `Resize` of
            `course_utils.cropping`; None if all images have the same size.
        transform: Applied to the images of a whole batch, on the GPU if `device` is one. What this and the
            crop `draw` depends on the order's seed, the epoch and the image, not on threads, ranks, resuming.
        device: Where batches go. A GPU copies them from pinned memory while it computes.
        on_error: "raise" a `PackError` that names file and member of a broken image; "skip" the image; or a
            function that receives the error and returns another image, uint8 (3, H, W), or None to skip.
        threads: Number of decoding threads; None for one per usable core. They exist during an iteration.
        in_flight: Batches being decoded or waiting, at least 1. Memory holds two more, and the index.
        verify: Compare each member with its checksum; without it, damage may give wrong pixels silently.
        layout: Layout of raw members, for packs that do not state it.
        **order: `shuffle`, `seed`, `drop_last`, `rank` and `world_size`, as of `EpochOrder`. Over all ranks
            an epoch holds each image once, without padding; with `drop_last`, all have as many full batches.

    Raises:
        FileNotFoundError: A pack is missing.
        PackError: A pack is damaged, compressed or encrypted, lacks labels or occurs twice, or no image of an
            epoch can be read.
        ValueError: An argument is out of range.
    """

    def __init__(
        self,
        path: str | Path | Sequence[str | Path],
        batch_size: int,
        *,
        crop: Crop | None = None,
        transform: BatchTransform | None = None,
        device: torch.device | str = "cpu",
        on_error: OnError = "raise",
        threads: int | None = None,
        in_flight: int = 3,
        verify: bool = True,
        layout: RawLayout | None = None,
        **order: Unpack[OrderOptions],
    ) -> None:
        require_policy(on_error)
        if threads is not None and threads < 1:
            raise ValueError(f"threads={threads}: at least 1, or None for one per usable core")
        self.images = PackedImages(path, verify, layout)
        self.order = EpochOrder(len(self.images), batch_size, **order)
        self.threads, self.in_flight = threads or usable_cores(), max(1, in_flight)
        self.transform, self.on_error, self.device = transform, on_error, torch.device(device)
        self._decoder = BatchDecoder(self.images, self.order, crop, self.threads, self.device.type == "cuda")
        # Where the last iteration is, and where the next one starts.
        self._position, self._next = Position(), Position()
        self._last: Callable[[], EpochIterator | None] = lambda: None

    def __len__(self) -> int:
        return len(self.order)

    def state_dict(self) -> LoaderState:
        """Return the state from which a loader can resume, on any rank; it can be written as JSON."""
        return state_at(self._position, self.order, self._source())

    def load_state_dict(self, state: LoaderState) -> None:
        """Let the next `iter` resume an epoch, also with another batch size or number of ranks.

        Raises:
            ValueError: The state belongs to a loader with other samples, is of an earlier version, or its
                position cannot be.
        """
        self._next = position_from(state, self.order, self._source())
        self._position = replace(self._next)

    def _source(self) -> Source:
        return Source.of(self.images.content, self._decoder.crop, self.transform)

    def __iter__(self) -> Iterator[Batch]:
        last = self._last()
        if last and last.is_open:
            raise RuntimeError("another iteration over this loader is still open: finish or close() it first")
        iterator = EpochIterator(self.threads, partial(self._batches, self._next))
        self._position, self._next = self._next, Position(self._next.epoch + 1)
        self._last = weakref.ref(iterator)
        return iterator

    def _batches(self, position: Position, threads: DecoderThreads) -> Iterator[Batch]:
        """Yield the batches of an epoch that are not empty, and keep the position."""
        errors: list[PackError] = []
        is_empty = position.samples == 0  # so far
        batches = self._decoded(threads, position, errors)
        if self.device.type == "cuda":
            batches = prefetch_to_device(batches, self.device, self._transformed)
        else:
            batches = (
                (step, (self._transformed(images, step), labels)) for step, (images, labels) in batches
            )
        for step, batch in batches:
            position.samples = step.consumed
            if len(batch[1]):
                is_empty = False
                yield batch
        if is_empty and errors:
            raise PackError(f"no image of the epoch can be read; the first error: {errors[0]}") from errors[0]
        position.epoch, position.samples = position.epoch + 1, 0

    def _decoded(
        self, threads: DecoderThreads, position: Position, errors: list[PackError]
    ) -> Iterator[tuple[Step, Batch]]:
        """Yield each batch, and which samples it holds."""
        start, parts = position.samples, self.order.batches(position.epoch, position.samples)
        decoded = self._decoder.batches(threads, position.epoch, parts, self.in_flight)
        for steps, (batch, samples, broken) in enumerate(decoded, 1):
            if broken:
                errors.append(broken[0][1])
                batch, samples = without_broken(batch, samples, broken, self.on_error)
            yield Step(position.epoch, self.order.consumed_after(start, steps), samples), batch

    def _transformed(self, images: torch.Tensor, step: Step) -> torch.Tensor:
        return transformed(images, step, self.transform, self.order.seed)

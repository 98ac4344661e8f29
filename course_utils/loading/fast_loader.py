"""Load batches from packed files as fast as the cores can decode.

Threads share an offset index (`course_utils.data.ZipIndex`). Each reads a member with one `pread`, decodes
what a crop needs of it, and resizes that into its place in a batch, all without the interpreter's lock. So
there are no processes, no pickling, no collating and no tensor per image. The decoder is libjpeg-turbo.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn, Unpack

import torch

from course_utils.cropping import Crop
from course_utils.data import PackedImages, RawLayout
from course_utils.loading.batch_decoder import BatchDecoder
from course_utils.loading.batch_transforms import BatchTransform, Step, transformed
from course_utils.loading.broken_images import BrokenImages, OnError, require_policy
from course_utils.loading.decoder_threads import DecoderThreads
from course_utils.loading.device_prefetch import Batch, prefetch_to_device, usable_device
from course_utils.loading.epoch_iterator import EpochIterator, OneIteration
from course_utils.loading.loader_state import LoaderState, Position, Source, position_from, state_at
from course_utils.loading.sampler import EpochOrder, OrderOptions, integer
from course_utils.system import usable_cores


class FastLoader:
    """Batches from stored zips: uint8 images (N, 3, H, W) in `channels_last`, and int64 labels (N,).

    Each `iter` starts the next epoch. A batch may be kept: its memory is reused when no tensor refers to it.
    Broken images do not change the number of batches, which all ranks must agree on: a batch of which all are
    broken is empty. Its mean loss is NaN, with gradients of zero.

    Args:
        path: A pack of JPEG or raw members, or a list of shards.
        batch_size: Images per batch; fewer in the last one, and where broken ones are skipped.
        crop: What to cut out of each image: `RandomResizedCrop`, `ResizeCenterCrop` or `Resize` of
            `course_utils.cropping`; None if all images have the same size.
        transform: Applied to the images of a whole batch, on the GPU if `device` is one. What this and the
            crop `draw` depends on the order's seed, the epoch and the image, not on threads, ranks, resuming.
        device: Where batches go. A GPU copies them from pinned memory while it computes.
        on_error: "raise" a `BrokenSampleError` that names file and member of a broken image; "skip" it; or a
            function that receives the error and returns another image, uint8 (3, H, W), or None to skip.
        max_broken: Share of a rank's images in an epoch that may be skipped or replaced, rounded up.
        threads: Number of decoding threads; None for one per usable core. They exist during an iteration.
        in_flight: Batches being decoded or waiting, at least 1. Memory holds two more, and the index.
        verify: Compare each member with its checksum; without it, damage may give wrong pixels silently.
        layout: Layout of raw members, for packs that do not state it.
        **order: `shuffle`, `seed`, `drop_last`, `rank` and `world_size`, as of `EpochOrder`. Over all ranks
            an epoch holds each image once, without padding; with `drop_last`, all have as many full batches.

    Attributes:
        broken: The broken images of the last iteration; `print(loader.broken)` for a summary.

    Raises:
        FileNotFoundError: A pack is missing.
        PackError: A pack is damaged, compressed or encrypted, lacks labels or occurs twice. While iterating,
            whatever `on_error` is: too many images are broken, one has another size, or a file has changed.
        OSError: While iterating, whatever `on_error` is: a disk or file server fails.
        ValueError, TypeError: An argument is out of range, no integer, or a device that PyTorch cannot use.
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
        max_broken: float = 0.01,
        threads: int | None = None,
        in_flight: int = 3,
        verify: bool = True,
        layout: RawLayout | None = None,
        **order: Unpack[OrderOptions],
    ) -> None:
        require_policy(on_error, max_broken)
        self.threads = usable_cores() if threads is None else integer("threads", threads, 1)
        self.in_flight, self.device = integer("in_flight", in_flight, 1), usable_device(device)
        self.images = PackedImages(path, verify, layout)
        self.order = EpochOrder(len(self.images), batch_size, **order)
        self.transform, self.on_error, self.max_broken = transform, on_error, max_broken
        self._decoder = BatchDecoder(self.images, self.order, crop, self.threads, self.device.type == "cuda")
        self._position, self._next = Position(), Position()  # of the last iteration, and the next one's start
        self._one, self.broken = OneIteration(), BrokenImages()

    def __len__(self) -> int:
        return len(self.order)

    def state_dict(self) -> LoaderState:
        """Return the state to resume from, on any rank, as JSON too; ValueError for a lambda as transform."""
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
        iterator = EpochIterator()
        self._one.begin(iterator)
        try:
            iterator.start(self.threads, partial(self._batches, self._next))
        except BaseException:
            iterator.close()
            raise
        self._position, self._next = self._next, Position(self._next.epoch + 1)
        return iterator

    def _batches(self, position: Position, threads: DecoderThreads) -> Iterator[Batch]:
        """Yield the batches of an epoch, and keep the position."""
        batches = self._decoded(threads, position)
        if self.device.type == "cuda":
            batches = prefetch_to_device(batches, self.device, self._transformed)
        else:
            batches = ((step, (self._transformed(images, step), y)) for step, (images, y) in batches)
        for step, batch in batches:
            position.samples = step.consumed
            yield batch
        position.epoch, position.samples = position.epoch + 1, 0

    def _decoded(self, threads: DecoderThreads, position: Position) -> Iterator[tuple[Step, Batch]]:
        """Yield each batch, and which samples it holds."""
        epoch, start = position.epoch, position.samples
        parts = self.order.batches(epoch, start)
        self.broken = broken = BrokenImages(sum(map(len, parts)), self.max_broken)
        decoded = self._decoder.batches(threads, epoch, parts, self.in_flight)
        for steps, (batch, samples) in enumerate(broken.handle(decoded, self.on_error), 1):
            yield Step(epoch, self.order.consumed_after(start, steps), samples), batch

    def _transformed(self, images: torch.Tensor, step: Step) -> torch.Tensor:
        return transformed(images, step, self.transform, self.order.seed)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a FastLoader cannot be copied or pickled: make another one with the same arguments, and pass it "
            "this one's state_dict()"
        )

"""Render a chunk of images in a worker process: write the JPEG files, leave the pixels in shared memory."""

import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from PIL import Image

from data_setup.create.shard import ImageRecord
from data_setup.format import QUALITY, RAW_BYTES, UnreadableError, image_name

CHUNK = 16  # images: 3 MB of raw pixels

ItemT = TypeVar("ItemT")  # what a source makes one image from
ItemT_contra = TypeVar("ItemT_contra", contravariant=True)


class Rendered(NamedTuple):
    """An image of a source.

    Args:
        image: RGB, 256x256.
        label: Its label.
        notes: What was odd about its file.
    """

    image: Image.Image
    label: int
    notes: tuple[str, ...] = ()


class Renderer(Protocol[ItemT_contra]):
    """Makes the image of an item; is sent to the worker processes."""

    def render(self, item: ItemT_contra, /) -> Rendered:
        """Return the image of an item.

        Raises:
            UnreadableError: The item cannot be read or decoded.
        """


@dataclass(frozen=True)
class Job(Generic[ItemT]):
    """A chunk of images to render.

    Args:
        slots: Their positions in the set, at most `CHUNK`.
        items: What the renderer makes each from.
        jpegs: Folder of the JPEG files.
        offset: Where the pixels of the first image go in shared memory, in images.
    """

    slots: Sequence[int]
    items: Sequence[ItemT]
    jpegs: Path
    offset: int = 0

    def pixel_buffers(self, memory: memoryview) -> list[memoryview]:
        """Return the part of the shared memory that belongs to each image."""
        numbers = range(self.offset, self.offset + len(self.slots))
        return [memory[number * RAW_BYTES : (number + 1) * RAW_BYTES] for number in numbers]


class Unreadable(NamedTuple):
    """An item that cannot be read or decoded, and why."""

    slot: int
    reason: str


def render_chunk(
    renderer: Renderer[ItemT], job: Job[ItemT], memory: memoryview
) -> list[ImageRecord | Unreadable]:
    """Write the JPEG files of a job, leave the pixels in memory and return the rest.

    Args:
        renderer: Makes the images.
        job: Which images, and where they go.
        memory: Shared with the process that packs the shard.
    """
    return [
        _render_one(renderer, job, slot, item, buffer)
        for slot, item, buffer in zip(job.slots, job.items, job.pixel_buffers(memory), strict=True)
    ]


def _render_one(
    renderer: Renderer[ItemT], job: Job[ItemT], slot: int, item: ItemT, buffer: memoryview
) -> ImageRecord | Unreadable:
    try:
        image, label, notes = renderer.render(item)
    except UnreadableError as error:
        return Unreadable(slot, str(error))
    name = image_name(slot)
    jpeg, pixels = encode(image)
    buffer[:] = pixels
    _write_new(f"{job.jpegs}/{name}", jpeg)
    return ImageRecord(name, label, len(jpeg), hashlib.sha256(jpeg).hexdigest(), None, notes)


def encode(image: Image.Image) -> tuple[bytes, bytes]:
    """Compress an image, and decode it again.

    Returns:
        The JPEG file, and the pixels that it decodes to: HWC, uint8.
    """
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    with Image.open(buffer) as decoded:
        return buffer.getvalue(), decoded.tobytes()


def _write_new(path: str, data: bytes) -> None:
    handle, left = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), memoryview(data)
    try:
        while left:  # a write may be short
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)

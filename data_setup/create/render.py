"""Render a chunk of images in a worker process: write the JPEG files, leave the pixels in shared memory."""

import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from PIL import Image

from data_setup.format.errors import UnreadableError
from data_setup.format.layout import QUALITY, RAW_BYTES, image_name

CHUNK = 16  # images: 3 MB of raw pixels

ItemT = TypeVar("ItemT")  # what a source makes one image from
ItemT_contra = TypeVar("ItemT_contra", contravariant=True)


class Rendered(NamedTuple):
    """An image of a source, its label, and what was odd about its file.

    The image is RGB; 256x256 where the set holds raw pixels.
    """

    image: Image.Image
    label: int
    notes: tuple[str, ...] = ()


class Renderer(Protocol[ItemT_contra]):
    """Makes the image of an item; is sent to the worker processes."""

    def render(self, item: ItemT_contra, /) -> Rendered:
        """Return the image of an item; UnreadableError if it cannot be decoded."""


class ImageRecord(NamedTuple):
    """An image whose JPEG file is on disk.

    It holds no pixels, so that a worker's report on a chunk fits into a pipe and is written at once: a worker
    that is killed halfway through a message leaves its reader waiting for the rest.

    Args:
        name: Name of the JPEG file, and of the members of the archives.
        label: Its label.
        size: Size of the JPEG file in bytes.
        sha256: Hash of the JPEG file, in hexadecimal digits.
        origin: The file of the source that it was made from; a worker leaves this None.
        notes: What was odd about that file.
    """

    name: str
    label: int
    size: int
    sha256: str
    origin: str | None
    notes: Sequence[str]


class Unreadable(NamedTuple):
    """An item that cannot be decoded, and why."""

    reason: str


class Job(NamedTuple, Generic[ItemT]):
    """At most `CHUNK` images of a shard: their positions in the set, and what each is made from."""

    shard: int
    slots: Sequence[int]
    items: Sequence[ItemT]


@dataclass(frozen=True)
class ChunkRenderer(Generic[ItemT]):
    """Renders chunks of a source.

    Args:
        renderer: Makes the images.
        jpegs: Folder of the JPEG files.
        with_pixels: Whether the set holds raw pixels.
    """

    renderer: Renderer[ItemT]
    jpegs: Path
    with_pixels: bool

    def chunk(self, job: Job[ItemT], memory: memoryview) -> list[ImageRecord | Unreadable]:
        """Write the JPEG files of a job, leave the pixels in memory and return the rest."""
        images = zip(job.slots, job.items, pixels_of(memory), strict=False)
        return [self.one(slot, item, pixels) for slot, item, pixels in images]

    def one(self, slot: int, item: ItemT, pixels: memoryview) -> ImageRecord | Unreadable:
        """Write one JPEG file, and its pixels to memory."""
        try:
            image, label, notes = self.renderer.render(item)
        except UnreadableError as error:
            return Unreadable(str(error))
        jpeg, name = encode(image), image_name(slot)
        if self.with_pixels:
            pixels[:] = decode(jpeg)
        _write_new(f"{self.jpegs}/{name}", jpeg)
        return ImageRecord(name, label, len(jpeg), hashlib.sha256(jpeg).hexdigest(), None, notes)


def pixels_of(memory: memoryview) -> list[memoryview]:
    """Return the part of the memory of a chunk that belongs to each image."""
    return [memory[start : start + RAW_BYTES] for start in range(0, len(memory), RAW_BYTES)]


def encode(image: Image.Image) -> bytes:
    """Return an image as a JPEG file."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def decode(jpeg: bytes) -> bytes:
    """Return the pixels of a JPEG file: HWC, uint8."""
    with Image.open(io.BytesIO(jpeg)) as image:
        return image.tobytes()


def _write_new(path: str, data: bytes) -> None:
    handle, left = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), memoryview(data)
    try:
        while left:  # a write may be short
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)

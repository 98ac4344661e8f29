"""What a worker process does: it makes a run of images and leaves them where the shard is put together."""

import hashlib
import io
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from PIL import Image

from data_setup.format import QUALITY, RAW_BYTES, UnreadableError, image_name

CHUNK = 16  # images: 3 MB of raw pixels; what a kill can cost a worker


class Rendered(NamedTuple):
    """An image of a source.

    Args:
        image: RGB, 256x256.
        label: What it shows.
        notes: What was odd about its file.
    """

    image: Image.Image
    label: int
    notes: tuple[str, ...] = ()


class Renderer(Protocol):
    """Makes the image of an item; is sent to the worker processes."""

    def render(self, item: object) -> Rendered:
        """Make the image.

        Raises:
            UnreadableError: The item is no image.
        """


@dataclass(frozen=True)
class Job:
    """A run of at most `CHUNK` images.

    Args:
        slots: Their positions in the set.
        items: What the renderer makes each from.
        jpegs: The folder of the single files.
        place: Where the pixels of the first go, counted in images from the beginning of the shared memory.
    """

    slots: Sequence[int]
    items: Sequence[object]
    jpegs: Path
    place: int = 0

    def pixels(self, memory: memoryview) -> list[memoryview]:
        """The part of the shared memory that each image has."""
        places = range(self.place, self.place + len(self.slots))
        return [memory[place * RAW_BYTES : (place + 1) * RAW_BYTES] for place in places]


class Packed(NamedTuple):
    """An image that is done, without its bytes: a message that fits into a pipe is never sent by halves.

    A worker that is killed while it sends half a message leaves its reader waiting for the rest.
    """

    name: str
    label: int
    size: int
    crc: int
    raw_crc: int
    sha256: str
    notes: tuple[str, ...]


class Broken(NamedTuple):
    """An item that is no image, and why."""

    slot: int
    reason: str


def make_chunk(renderer: Renderer, job: Job, memory: memoryview) -> list[Packed | Broken]:
    """Make the images of a job: write their JPEG files, leave their pixels in memory, return the rest.

    Args:
        renderer: Makes them.
        job: Which, and where they go.
        memory: Shared with the process that puts the shard together.
    """
    return [
        _make_one(renderer, job, slot, item, pixels)
        for slot, item, pixels in zip(job.slots, job.items, job.pixels(memory), strict=True)
    ]


def _make_one(renderer: Renderer, job: Job, slot: int, item: object, room: memoryview) -> Packed | Broken:
    try:
        picture, label, notes = renderer.render(item)
    except UnreadableError as error:
        return Broken(slot, str(error))
    name = image_name(slot)
    jpeg, pixels = encode(picture)
    room[:] = pixels
    _write_new(f"{job.jpegs}/{name}", jpeg)
    sha256 = hashlib.sha256(jpeg).hexdigest()
    return Packed(name, label, len(jpeg), zlib.crc32(jpeg), zlib.crc32(pixels), sha256, notes)


def encode(picture: Image.Image) -> tuple[bytes, bytes]:
    """Compress a picture, and read it back as a reader will see it.

    Returns:
        The JPEG file, and the pixels that it decodes to: rows of RGB pixels, uint8.
    """
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=QUALITY)
    with Image.open(buffer) as decoded:
        return buffer.getvalue(), decoded.tobytes()


def _write_new(path: str, data: bytes) -> None:
    handle, left = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), memoryview(data)
    try:
        while left:  # the system may take less at once
            left = left[os.write(handle, left) :]
    finally:
        os.close(handle)

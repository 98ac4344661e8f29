"""Decode the images of one or more stored zips directly into arrays that the caller provides."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from simplejpeg import decode_jpeg, decode_jpeg_header

from course_utils.cropping import CutOf, decode_cut_into, resize_into
from course_utils.data.pack import INFO_NAME, PackError, RawLayout
from course_utils.data.pack_access import layout_to_read, open_indexed_pack, require_images, require_labels
from course_utils.data.zip_directory import index_path
from course_utils.data.zip_index import ZipIndex


class PackedImages:
    """Images and labels of one or more packs, sorted by name; any thread or process may read them.

    Args:
        path: A pack of JPEG or raw members, or a list of shards. A saved index beside a pack is used.
        verify: Compare each member with its checksum. Without it, a damaged or overwritten pack gives wrong
            pixels or another image under the label, without an error.
        layout: Layout of raw members, for packs that do not state it; None there means JPEG members.

    Attributes:
        labels: int64 (images,).
        shape: Height, width, 3 of the first image that can be read.

    Raises:
        FileNotFoundError: A pack is missing.
        PackError: A pack is damaged, a member has no label, is compressed or encrypted or has the name of
            another one, no image can be read, or `layout` contradicts a pack.
    """

    def __init__(
        self,
        path: str | Path | Sequence[str | Path],
        verify: bool = True,
        layout: RawLayout | None = None,
    ) -> None:
        self.paths = [path] if isinstance(path, str | Path) else list(path)
        images = [_images(shard, layout) for shard in self.paths]
        require_images(self.paths, sum(len(found.names) for found in images), ())
        self._shards = [found.shard for found in images]
        self._layouts = [found.layout for found in images]
        names = np.concatenate([found.names for found in images])
        order = np.argsort(names, kind="stable")
        names = names[order]
        repeated = names[1:][names[1:] == names[:-1]]
        require_images(self.paths, len(names), (name.decode() for name in repeated))
        self.labels = np.concatenate([found.labels for found in images])[order]
        self._member = np.concatenate([found.members for found in images])[order]
        sizes = [len(found.members) for found in images]
        self._shard = np.repeat(np.arange(len(images)), sizes)[order]
        self._verify = verify
        self.shape = self._first_shape()

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def content(self) -> str:
        """A hash of all labels, sizes and checksums, in the order of the images."""
        measures = np.empty((len(self), 2), np.int64)
        for shard, index in enumerate(self._shards):
            mine = self._shard == shard
            rows = index.table[self._member[mine]]
            measures[mine] = np.stack([rows["size"], rows["crc"]], axis=1)
        return hashlib.sha256(self.labels.tobytes() + measures.tobytes()).hexdigest()[:16]

    def read_into(self, i: int, pixels: np.ndarray) -> None:
        """Decode image `i` into an array.

        Args:
            i: Position of the image, in the order of the names.
            pixels: Contiguous uint8 array (H, W, 3) to fill.

        Raises:
            PackError: The image is broken or has another shape; the message names file and member.
        """
        index, member, layout = self._place(i)
        try:
            if layout and layout.order == "HWC" and layout.shape == pixels.shape:
                index.read_into(member, pixels, check=self._verify)
                return
            data = index.read(member, check=self._verify)
            if layout is None:
                _decode_jpeg_into(data, pixels)
            else:
                found = _raw_pixels(data, layout)
                _refuse_other_shape(found.shape, pixels.shape)
                pixels[...] = found
        except (ValueError, OSError, BadZipFile) as error:
            raise PackError(f"{index.path}: {index.name(member)}: {error}") from error

    def places(self, images: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield where the bytes of some images lie: open file, offsets and sizes, pack by pack."""
        for shard in np.unique(self._shard[images]):
            mine = self._member[images[self._shard[images] == shard]]
            index = self._shards[shard]
            yield index.fileno(), index.table["offset"][mine], index.table["span"][mine]

    def read_cut_into(self, i: int, cut_of: CutOf, pixels: np.ndarray) -> None:
        """Decode a part of image `i` into an array, resized.

        Args:
            i: Position of the image, in the order of the names.
            cut_of: Called with the image's height and width; returns what to cut out.
            pixels: Contiguous uint8 array (H, W, 3) to fill.

        Raises:
            PackError: The image is broken, as far as the part needs it; the message names file and member.
        """
        index, member, layout = self._place(i)
        try:
            data = index.read(member, check=self._verify)
            if layout is None:
                decode_cut_into(data, cut_of, pixels)
            else:
                found = _raw_pixels(data, layout)
                cut = cut_of(*found.shape[:2])
                resize_into(found[cut.rows, cut.columns], cut, pixels)
        except (ValueError, OSError, BadZipFile) as error:
            raise PackError(f"{index.path}: {index.name(member)}: {error}") from error

    def _first_shape(self) -> tuple[int, int, int]:
        """Return the shape of the first image that can be read."""
        first_error = None
        for shard, member in zip(self._shard, self._member, strict=True):
            if layout := self._layouts[shard]:
                height, width = (layout.shape[layout.order.index(axis)] for axis in "HW")
                return height, width, 3
            index = self._shards[shard]
            try:
                height, width, *_ = decode_jpeg_header(index.read(member))
                return height, width, 3
            except (ValueError, OSError, BadZipFile) as error:
                first_error = first_error or f"{index.path}: {index.name(member)}: {error}"
        raise PackError(
            f"no image can be read as a JPEG file; the first error: {first_error}. If the members are raw "
            'pixels, pass their layout, for example layout=RawLayout("HWC", (256, 256, 3)).'
        )

    def _place(self, i: int) -> tuple[ZipIndex, int, RawLayout | None]:
        shard = self._shard[i]
        return self._shards[shard], self._member[i], self._layouts[shard]


class _Images(NamedTuple):
    shard: ZipIndex
    layout: RawLayout | None
    names: np.ndarray
    labels: np.ndarray
    members: np.ndarray  # positions in the index


def _images(path: str | Path, layout: RawLayout | None) -> _Images:
    index, info = open_indexed_pack(path, index_path(path))
    description = index.find(INFO_NAME)
    encoded = np.delete(index.table["name"], description)
    names = [name.decode() for name in encoded]
    require_labels(path, names, info)
    labels = np.fromiter((info.labels[name] for name in names), np.int64, len(names))
    members = np.delete(np.arange(len(index)), description)
    return _Images(index, layout_to_read(path, info, layout), encoded, labels, members)


def _decode_jpeg_into(data: memoryview, pixels: np.ndarray) -> None:
    try:
        found = decode_jpeg(data, buffer=pixels)
    except ValueError:
        _refuse_other_shape((*decode_jpeg_header(data)[:2], 3), pixels.shape)  # too large for the buffer
        raise
    _refuse_other_shape(found.shape, pixels.shape)


def _raw_pixels(data: memoryview, layout: RawLayout) -> np.ndarray:
    found = layout.array(data)
    return found if layout.order == "HWC" else found.transpose(1, 2, 0)


def _refuse_other_shape(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if shape != wanted:
        raise PackError(
            f"{shape[0]}x{shape[1]} pixels, but other images have {wanted[0]}x{wanted[1]}: "
            "resize them, as FastLoader does with crop=Resize(224)"
        )

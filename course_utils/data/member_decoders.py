"""Decode members of one pack into arrays, whole or only a part of them."""

from functools import partial
from typing import Protocol

import numpy as np
from simplejpeg import decode_jpeg

from course_utils.cropping import CutOf, decode_cut_into, read_header, resize_into
from course_utils.data.pack import PackError, RawLayout
from course_utils.data.zips import ZipIndex

Shape = tuple[int, ...]


class MemberDecoder(Protocol):
    """Decodes the members of a pack.

    For a broken one, each method raises ValueError, OSError or BadZipFile.
    """

    def shape(self, member: int) -> Shape:
        """Return height, width and 3."""

    def read_into(self, member: int, pixels: np.ndarray) -> None:
        """Decode a member into a contiguous uint8 array (H, W, 3) of its shape."""

    def read_cut_into(self, member: int, cut_of: CutOf, pixels: np.ndarray) -> None:
        """Decode a part of a member into an array, resized; `cut_of` gets the member's height and width."""


def decoder(index: ZipIndex, layout: RawLayout | None, verify: bool) -> MemberDecoder:
    """Return what decodes the members of a pack.

    Args:
        index: The pack.
        layout: Of raw members; None for JPEG files.
        verify: Compare each member with its checksum.
    """
    if layout is None:
        return JpegMembers(index, verify)
    return (RawRows if layout.order == "HWC" else RawPlanes)(index, layout, verify)


class JpegMembers:
    """Members that are JPEG files."""

    def __init__(self, index: ZipIndex, verify: bool) -> None:
        self._read = partial(index.read, check=verify)

    def shape(self, member: int) -> Shape:
        """Return height, width and 3, without decoding."""
        height, width, *_ = read_header(self._read(member))
        return height, width, 3

    def read_into(self, member: int, pixels: np.ndarray) -> None:
        """Decode a member straight into an array."""
        data = self._read(member)
        try:
            found = decode_jpeg(data, buffer=pixels)
        except ValueError:
            _refuse_other_shape((*read_header(data)[:2], 3), pixels.shape)  # too large for the buffer
            raise
        _refuse_other_shape(found.shape, pixels.shape)

    def read_cut_into(self, member: int, cut_of: CutOf, pixels: np.ndarray) -> None:
        """Decode only what a part needs."""
        decode_cut_into(self._read(member), cut_of, pixels)


class RawRows:
    """Members that are raw pixels, row by row: HWC."""

    def __init__(self, index: ZipIndex, layout: RawLayout, verify: bool) -> None:
        self._layout, self._read = layout, partial(index.read, check=verify)
        self._read_into = partial(index.read_into, check=verify)
        height, width = (layout.shape[layout.order.index(axis)] for axis in "HW")
        self._shape = height, width, 3

    def shape(self, member: int) -> Shape:
        """Return height, width and 3: the same for all members."""
        return self._shape

    def read_into(self, member: int, pixels: np.ndarray) -> None:
        """Read a member straight into an array."""
        _refuse_other_shape(self._shape, pixels.shape)
        self._read_into(member, pixels)

    def read_cut_into(self, member: int, cut_of: CutOf, pixels: np.ndarray) -> None:
        """Read a member and resize a part of it."""
        cut = cut_of(*self._shape[:2])._replace(reduction=1)
        resize_into(self._pixels(member)[cut.rows, cut.columns], cut, pixels)

    def _pixels(self, member: int) -> np.ndarray:
        return self._layout.array(self._read(member))


class RawPlanes(RawRows):
    """Members that are raw pixels, one plane per channel: CHW."""

    def read_into(self, member: int, pixels: np.ndarray) -> None:
        """Read a member and copy it into an array."""
        _refuse_other_shape(self._shape, pixels.shape)
        pixels[...] = self._pixels(member)

    def _pixels(self, member: int) -> np.ndarray:
        return super()._pixels(member).transpose(1, 2, 0)


def _refuse_other_shape(shape: Shape, wanted: Shape) -> None:
    if shape != wanted:
        raise PackError(
            f"{shape[0]}x{shape[1]} pixels, but other images have {wanted[0]}x{wanted[1]}: "
            "resize them, as FastLoader does with crop=Resize(224)"
        )

"""Decode members of one pack into arrays, whole or only a part of them."""

from typing import Protocol

import numpy as np
from simplejpeg import decode_jpeg

from course_utils.cropping import CutOf, decode_cut_into, read_header, resize_into
from course_utils.data.image_files import image_format
from course_utils.data.pack import BrokenSampleError, PackError, RawLayout
from course_utils.data.zips.zip_index import ZipIndex

Shape = tuple[int, ...]


class MemberDecoder(Protocol):
    """Decodes the members of a pack.

    For a damaged one, each method raises ValueError or BadZipFile; PackError for one of another size;
    ChangedFileError if the file has changed, and OSError if the disk fails.

    Attributes:
        check: Compare each member with its checksum.
    """

    check: bool

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

    def __init__(self, index: ZipIndex, check: bool) -> None:
        self._index, self.check = index, check

    def shape(self, member: int) -> Shape:
        """Return height, width and 3, without decoding."""
        return _shape_in(self._read(member))

    def read_into(self, member: int, pixels: np.ndarray) -> None:
        """Decode a member straight into an array."""
        data = self._read(member)
        try:
            found = decode_jpeg(data, buffer=pixels)
        except ValueError:
            if _shape_in(data) != pixels.shape:  # too large for the buffer, or its header is damaged
                _refuse_other_shape(decode_jpeg(data).shape, pixels.shape)
            raise
        _refuse_other_shape(found.shape, pixels.shape)

    def read_cut_into(self, member: int, cut_of: CutOf, pixels: np.ndarray) -> None:
        """Decode only what a part needs."""
        data = self._read(member)
        try:
            decode_cut_into(data, cut_of, pixels)
        except ValueError:
            _shape_in(data)  # raises a better error for what is no JPEG file
            raise

    def _read(self, member: int) -> memoryview:
        return self._index.read(member, self.check)


def _shape_in(data: memoryview) -> Shape:
    """Return the shape that the header of a JPEG file states."""
    try:
        height, width, *_ = read_header(data)
    except ValueError as error:
        other = image_format(bytes(data[:16]))
        if other == "JPEG" and len(data) > 2:
            raise
        if other in (None, "JPEG"):
            raise BrokenSampleError(f"its {len(data):,} bytes are no JPEG file") from error
        raise BrokenSampleError(f"it is a {other} file under this name, and not a JPEG file") from error
    return height, width, 3


class RawRows:
    """Members that are raw pixels, row by row: HWC."""

    def __init__(self, index: ZipIndex, layout: RawLayout, check: bool) -> None:
        self._index, self._layout, self.check = index, layout, check
        height, width = (layout.shape[layout.order.index(axis)] for axis in "HW")
        self._shape = height, width, 3

    def shape(self, member: int) -> Shape:
        """Return height, width and 3: the same for all members."""
        return self._shape

    def read_into(self, member: int, pixels: np.ndarray) -> None:
        """Read a member straight into an array."""
        _refuse_other_shape(self._shape, pixels.shape)
        self._index.read_into(member, pixels, self.check)

    def read_cut_into(self, member: int, cut_of: CutOf, pixels: np.ndarray) -> None:
        """Read a member and resize a part of it."""
        cut = cut_of(*self._shape[:2])._replace(reduction=1)
        resize_into(self._pixels(member)[cut.rows, cut.columns], cut, pixels)

    def _pixels(self, member: int) -> np.ndarray:
        return self._layout.array(self._index.read(member, self.check))


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

"""Decode only a part of a JPEG file where libjpeg-turbo 3 is installed, and otherwise the whole file."""

import numpy as np
from simplejpeg import decode_jpeg

from course_utils.cropping.header import Header, read_header
from course_utils.cropping.turbojpeg import BLOCK_WIDTHS, decode_part, turbojpeg

NOT_RGB = ("CMYK", "YCCK")


def can_decode_parts() -> bool:
    """Return whether libjpeg-turbo 3 is here, which decodes only a part of a file."""
    return turbojpeg() is not None


def decode_region(
    data: memoryview, rows: slice, columns: slice, reduction: int = 1, header: Header | None = None
) -> np.ndarray:
    """Decode a part of a JPEG file to RGB; the pixels are those of the whole image, bit by bit.

    Args:
        data: The file.
        rows: First row, and the one after the last, in pixels of the image.
        columns: First column, and the one after the last.
        reduction: 2, 4 or 8 to decode at this part of the size. Other sizes would take longer than the whole
            one, as libjpeg-turbo has no vectorised code for them.
        header: Its header, if it has been read already.

    Returns:
        uint8 (rows, columns, 3); with a reduction, the smallest region that contains the part.

    Raises:
        ValueError: The file is damaged, or its colours cannot be converted. Damage below the part is not
            noticed with libjpeg-turbo 3, which does not read so far.
    """
    rows, columns = (slice(part.start // reduction, -(-part.stop // reduction)) for part in (rows, columns))
    height, width, colours, subsampling = header or read_header(data)
    library, block = turbojpeg(), BLOCK_WIDTHS.get(subsampling)
    if library and block and colours not in NOT_RGB:  # simplejpeg converts these itself
        return decode_part(library, data, block, rows, columns, reduction)
    smallest = {"min_height": -(-height // reduction), "min_width": -(-width // reduction)}
    whole: np.ndarray = decode_jpeg(data, min_factor=reduction, **smallest)
    return whole[rows, columns]

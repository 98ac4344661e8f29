"""Read the header of a JPEG file, and refuse an image that is too large to be decoded safely."""

import io
from typing import NamedTuple

from PIL import Image
from simplejpeg import decode_jpeg_header

# Pillow refuses more, too: a small file may claim 65500x65500 pixels, which take 12 GiB.
MOST_PIXELS = 178_956_970


class Header(NamedTuple):
    """What the header of a JPEG file says.

    Args:
        height: In pixels.
        width: In pixels.
        colours: Name of the colour space, as of simplejpeg.
        subsampling: How the colours are subsampled, such as "420".
    """

    height: int
    width: int
    colours: str
    subsampling: str


def read_header(data: bytes | memoryview) -> Header:
    """Return the header of a JPEG file.

    Raises:
        ValueError: The file is damaged, or has more than `MOST_PIXELS`.
    """
    try:
        header = Header(*decode_jpeg_header(data))
    except KeyError:  # simplejpeg has no name for this subsampling
        header = _with_pillow(data)
    if header.height * header.width > MOST_PIXELS:
        raise ValueError(f"{header.height}x{header.width} pixels: more than {MOST_PIXELS:,} are refused")
    return header


def _with_pillow(data: bytes | memoryview) -> Header:
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG",)) as image:
            return Header(image.height, image.width, image.mode, "441")
    except Exception as error:  # Pillow raises nearly anything for a damaged file
        raise ValueError(f"its header cannot be read: {error}") from error

"""Decode image files strictly: whatever damage a format can show is an error.

Pillow alone returns a picture where libjpeg only warns, and ignores the checksums of PNG. JPEG has none: a
flipped bit that is valid code gives other pixels unnoticed, so a pack has one for each member. WebP,
GIF, BMP and TIFF have none either: only a damaged structure is noticed there.
"""

import io
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image
from PIL.JpegImagePlugin import JpegImageFile
from simplejpeg import decode_jpeg

from course_utils.data.zips.regular_file import without_waiting

IMAGE_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")  # Pillow would start Ghostscript for EPS
SIGNATURES: dict[str, bytes | tuple[bytes, ...]] = {
    "JPEG": b"\xff\xd8",
    "PNG": b"\x89PNG\r\n",
    "WEBP": b"RIFF",
    "BMP": b"BM",
    "GIF": b"GIF8",
    "TIFF": (b"II*\0", b"MM\0*"),
}
# What Pillow makes of the others as RGB (16 bits, 32 bits, fractions) is not what they show.
EIGHT_BIT_MODES = frozenset(
    ["1", "L", "LA", "La", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "LAB", "HSV"]
)
BLOCK = 65536  # bytes per read, as many as Pillow's


def image_format(start: bytes) -> str | None:
    """Return the format of an image file by its first bytes; None if it is none of these."""
    return next((name for name, signature in SIGNATURES.items() if start.startswith(signature)), None)


def decode_rgb(file: str | Path | IO[bytes]) -> np.ndarray:
    """Decode an image file to uint8 RGB pixels (H, W, 3).

    Raises:
        Exception: It cannot be read or decoded, or is damaged: nearly any, as Pillow's formats differ.
    """
    if isinstance(file, str | Path):
        with open(file, "rb", opener=without_waiting) as opened:
            return decode_rgb(opened)
    with Image.open(file, formats=IMAGE_FORMATS) as image:
        data = _whole_file(image)
        if isinstance(image, JpegImageFile) and image.mode == "RGB":
            return _jpeg_pixels(image, data)
        if image.mode not in EIGHT_BIT_MODES:
            raise ValueError(f"pixels of the kind {image.mode}, which are no numbers from 0 to 255")
        return np.array(decode_strictly(image, data).convert("RGB"))


def decode_strictly(image: Image.Image, data: bytes) -> Image.Image:
    """Decode an opened image file, with the same pixels as Pillow's.

    Args:
        image: Opened from `data`; a JPEG may have been given a smaller size by ``draft``.
        data: The whole file.

    Raises:
        Exception: It is damaged: nearly any, as Pillow's formats differ.
    """
    if isinstance(image, JpegImageFile):
        if image.mode in ("L", "RGB"):
            return Image.fromarray(_jpeg_pixels(image, data))
        decode_jpeg(data, "CMYK")  # only to raise: Pillow knows more about the colours
    elif image.format == "PNG":
        with Image.open(io.BytesIO(data), formats=("PNG",)) as file:
            file.verify()  # the checksums of all chunks, which decoding ignores
    image.load()
    return image


def _jpeg_pixels(image: Image.Image, data: bytes) -> np.ndarray:
    colours = "GRAY" if image.mode == "L" else "RGB"
    pixels: np.ndarray = decode_jpeg(data, colours, min_height=image.height, min_width=image.width)
    return pixels.squeeze(2) if image.mode == "L" else pixels


def _whole_file(image: Image.Image) -> bytes:
    file = image.fp  # type: ignore[attr-defined]  # each image that was opened from a file has one
    file.seek(0)
    blocks = [file.read(BLOCK)]
    while len(blocks[-1]) == BLOCK:
        blocks.append(file.read(BLOCK))
    return b"".join(blocks)

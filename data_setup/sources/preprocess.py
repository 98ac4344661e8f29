"""Turn any image file into an upright RGB square of 256x256 pixels; a damaged file is unreadable."""

import io
import warnings

from PIL import Image, UnidentifiedImageError

from course_utils.data import IMAGE_FORMATS, decode_strictly
from data_setup.format.errors import UnreadableError
from data_setup.format.layout import SIDE

MODES = {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr"}
GRAY = {"1", "L", "LA"}
ORIENTATION = 0x0112
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
MAX_PIXELS = 32 << 20  # 100 MB of RGB, to limit the memory of a worker


Notes = tuple[str, ...]


def to_square(data: bytes, name: str) -> tuple[Image.Image, Notes]:
    """Decode an image file, crop its middle square and resample that.

    Args:
        data: The file.
        name: Its name, only to compare the suffix with the format.

    Returns:
        The image, RGB of 256x256 pixels, and what was odd about its file.

    Raises:
        UnreadableError: It is damaged, truncated, too large, or of a mode without a plain RGB form.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # damaged metadata does not matter
            return _decode(data, name)
    except UnreadableError:
        raise
    except UnidentifiedImageError as error:  # its text contains a memory address, different in each run
        raise UnreadableError("no image format that is known") from error
    except Exception as error:  # Pillow raises nearly anything for a damaged file
        raise UnreadableError(f"{type(error).__name__}: {error}") from error


def _decode(data: bytes, name: str) -> tuple[Image.Image, Notes]:
    with Image.open(io.BytesIO(data), formats=IMAGE_FORMATS) as image:
        image.draft(None, (2 * SIDE, 2 * SIDE))  # decodes a large JPEG at 1/2, 1/4 or 1/8
        if image.width * image.height > MAX_PIXELS:
            raise UnreadableError(f"{image.width}x{image.height} pixels are more than this program takes")
        if image.mode not in MODES:
            raise UnreadableError(f"pixels of the kind {image.mode}")
        decoded = decode_strictly(image, data)
        # Only after decoding: Pillow turns a TIFF itself, and then removes its orientation.
        turn = UPRIGHT.get(image.getexif().get(ORIENTATION, 1))
        notes = _notes(image, name, turn)
        opaque, was_transparent = _on_white(decoded)
    square = _middle(opaque).convert("RGB")
    notes = (*notes, "transparent pixels on white") if was_transparent else notes
    return square if turn is None else square.transpose(turn), notes


def _on_white(image: Image.Image) -> tuple[Image.Image, bool]:
    """Return an L or RGB image, and whether it had transparent pixels: their colours are not to be seen."""
    if image.has_transparency_data:
        layer = image.convert("RGBA")
        if layer.getchannel("A").getextrema() != (255, 255):
            white = Image.new("RGBA", layer.size, "white")
            return Image.alpha_composite(white, layer).convert("RGB"), True
    return image if image.mode in ("L", "RGB") else image.convert("RGB"), False


def _middle(image: Image.Image) -> Image.Image:
    side = min(image.size)
    left, top = (image.width - side) / 2, (image.height - side) / 2
    box = (left, top, left + side, top + side)
    return image.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box=box)


def _notes(image: Image.Image, name: str, turn: Image.Transpose | None) -> Notes:
    notes = []
    if name.lower().endswith((".jpeg", ".jpg")) and image.format != "JPEG":
        notes.append(f"{image.format} named as JPEG")
    if image.mode in GRAY:
        notes.append("grayscale")
    elif image.mode != "RGB":
        notes.append(image.mode)
    if turn is not None:
        notes.append("rotated by EXIF")
    return tuple(notes)

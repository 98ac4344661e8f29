import io

import numpy as np
import pytest
from PIL import Image

from data_setup.format.errors import UnreadableError
from data_setup.sources.preprocess import UPRIGHT, to_square
from tests.data_setup.image_collections import encoded, picture


def bright_corner(image):
    """Which quarter is the brightest: 0 left top, 1 right top, 2 left bottom, 3 right bottom."""
    gray = np.asarray(image.convert("L"), float)
    return int(np.argmax([gray[y : y + 64, x : x + 64].mean() for y in (0, 192) for x in (0, 192)]))


@pytest.mark.parametrize(
    ("mode", "kind", "notes"),
    [
        ("RGB", "JPEG", ()),
        ("L", "JPEG", ("grayscale",)),
        ("CMYK", "JPEG", ("CMYK",)),
        ("RGB", "PNG", ("PNG named as JPEG",)),
        ("RGBA", "PNG", ("PNG named as JPEG", "RGBA")),
        ("P", "PNG", ("PNG named as JPEG", "P")),
        ("1", "PNG", ("PNG named as JPEG", "grayscale")),
        ("LA", "PNG", ("PNG named as JPEG", "grayscale")),
    ],
)
def test_any_mode_becomes_an_rgb_square_and_is_noted(mode, kind, notes):
    result = to_square(encoded(picture(0, mode=mode), kind), "x.JPEG")
    assert (result.image.mode, result.image.size) == ("RGB", (256, 256))
    assert result.notes == notes
    assert bright_corner(result.image) == 0


def test_cmyk_keeps_its_colours():
    image = picture(0)
    plain = to_square(encoded(image, quality=95), "x.JPEG").image
    cmyk = to_square(encoded(image.convert("CMYK"), quality=95), "x.JPEG").image
    assert np.abs(np.asarray(plain, int) - np.asarray(cmyk)).mean() < 10


@pytest.mark.parametrize("orientation", [1, *UPRIGHT])
def test_exif_orientation_is_undone(orientation):
    undo = {5: 5, 6: 8, 7: 7, 8: 6}.get(orientation, orientation)
    image = picture(0)
    stored = image.transpose(UPRIGHT[undo]) if orientation != 1 else image
    exif = Image.Exif()
    exif[0x0112] = orientation
    result = to_square(encoded(stored, exif=exif), "x.JPEG")
    assert bright_corner(result.image) == 0
    assert result.notes == (() if orientation == 1 else ("rotated by EXIF",))


@pytest.mark.parametrize("size", [(300, 500), (500, 300), (40, 30), (3000, 2000), (256, 256)])
def test_the_middle_square_is_taken_whole(size):
    image = Image.new("RGB", size, (200, 0, 0))
    side = min(size)
    left, top = (size[0] - side) // 2, (size[1] - side) // 2
    image.paste((0, 0, 200), (left, top, left + side, top + side))
    pixels = np.asarray(to_square(encoded(image, quality=95), "x.JPEG").image, int)
    assert pixels[24:-24, 24:-24, 2].min() > 150


def test_a_small_fast_decode_looks_like_the_full_one():
    image = picture(0, (3000, 2000))
    box = (500, 0, 2500, 2000)
    full = image.resize((256, 256), Image.Resampling.BICUBIC, box=box)
    fast = to_square(encoded(image, quality=95), "x.JPEG").image
    assert np.abs(np.asarray(full, int) - np.asarray(fast)).mean() < 3


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no image at all",
        encoded(picture(0))[:-2000],
        encoded(picture(0), "PNG")[:-2000],
        encoded(picture(0))[:20],
        encoded(Image.fromarray(np.zeros((8, 8), np.uint16)), "PNG"),
    ],
    ids=["empty", "text", "cut JPEG", "cut PNG", "header only", "16 bits"],
)
def test_what_is_no_whole_image_is_unreadable(data):
    with pytest.raises(UnreadableError):
        to_square(data, "x.JPEG")


def test_a_giant_is_refused_before_it_takes_memory():
    buffer = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(buffer, "PNG")
    with pytest.raises(UnreadableError, match="12000x12000"):
        to_square(buffer.getvalue(), "x.png")

import io

import numpy as np
import pytest
from PIL import Image

from data_setup.format.errors import UnreadableError
from data_setup.sources.preprocess import UPRIGHT, to_square
from tests.data_setup.image_collections import bright_corner, encoded, picture


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
def test_any_mode_becomes_an_rgb_square_with_a_note(mode, kind, notes):
    image, found = to_square(encoded(picture(0, mode=mode), kind), "x.JPEG")
    assert (image.mode, image.size) == ("RGB", (256, 256))
    assert found == notes
    assert bright_corner(image) == 0


def test_cmyk_keeps_its_colours():
    image = picture(0)
    plain = to_square(encoded(image, quality=95), "x.JPEG")[0]
    cmyk = to_square(encoded(image.convert("CMYK"), quality=95), "x.JPEG")[0]
    assert np.abs(np.asarray(plain, int) - np.asarray(cmyk)).mean() < 10


@pytest.mark.parametrize("orientation", [1, *UPRIGHT])
def test_exif_orientation_is_undone(orientation):
    undo = {5: 5, 6: 8, 7: 7, 8: 6}.get(orientation, orientation)
    image = picture(0)
    stored = image.transpose(UPRIGHT[undo]) if orientation != 1 else image
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright, notes = to_square(encoded(stored, exif=exif), "x.JPEG")
    assert bright_corner(upright) == 0
    assert notes == (() if orientation == 1 else ("rotated by EXIF",))


@pytest.mark.parametrize("size", [(300, 500), (500, 300), (40, 30), (3000, 2000), (256, 256)])
def test_middle_square_is_taken(size):
    image = Image.new("RGB", size, (200, 0, 0))
    side = min(size)
    left, top = (size[0] - side) // 2, (size[1] - side) // 2
    image.paste((0, 0, 200), (left, top, left + side, top + side))
    pixels = np.asarray(to_square(encoded(image, quality=95), "x.JPEG")[0], int)
    assert pixels[24:-24, 24:-24, 2].min() > 150


def test_reduced_decoding_resembles_full_decoding():
    image = picture(0, (3000, 2000))
    box = (500, 0, 2500, 2000)
    full = image.resize((256, 256), Image.Resampling.BICUBIC, box=box)
    fast = to_square(encoded(image, quality=95), "x.JPEG")[0]
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
    ids=["empty", "text", "truncated JPEG", "truncated PNG", "header only", "16 bits"],
)
def test_damaged_or_unsupported_file_is_unreadable(data):
    with pytest.raises(UnreadableError):
        to_square(data, "x.JPEG")


def test_giant_image_is_refused_before_its_pixels_are_read():
    buffer = io.BytesIO()
    Image.new("1", (12_000, 12_000)).save(buffer, "PNG")
    with pytest.raises(UnreadableError, match="12000x12000"):
        to_square(buffer.getvalue()[:100], "x.png")  # the header only

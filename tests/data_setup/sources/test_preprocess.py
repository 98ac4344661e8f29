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


@pytest.mark.parametrize("orientation", UPRIGHT)
@pytest.mark.parametrize("kind", ["JPEG", "TIFF", "PNG", "WEBP"])
def test_orientation_is_applied_once_in_each_format(kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = picture(0, (300, 200))
    expected = to_square(encoded(stored.transpose(UPRIGHT[orientation]), "PNG"), "x.png")[0]
    found = to_square(encoded(stored, kind, exif=exif), f"x.{kind}")[0]
    assert np.abs(np.asarray(found, int) - np.asarray(expected)).mean() < 5


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "RGB"])
def test_hidden_colours_of_transparent_pixels_are_not_shown(mode):
    image = Image.new("RGBA", (300, 300), (200, 0, 0, 0))
    image.paste((0, 0, 0, 255), (0, 0, 150, 300))
    options = {"transparency": (200, 0, 0)} if mode == "RGB" else {}
    data = encoded(image.convert(mode), "PNG", **options)
    found, notes = to_square(data, "x.png")
    assert found.getpixel((10, 128)) == (0, 0, 0)
    assert found.getpixel((245, 128)) == (255, 255, 255)
    assert "transparent pixels on white" in notes


def test_eps_is_unreadable_and_starts_no_program():
    with pytest.raises(UnreadableError, match="no image format"):
        to_square(encoded(picture(0), "EPS"), "x.JPEG")


def flips(data, count):
    for number in range(count):
        flipped = bytearray(data)
        flipped[number * len(data) // count] ^= 1 << number % 8
        yield bytes(flipped)


def test_flipped_png_raises_or_gives_the_same_pixels():
    data = encoded(picture(0), "PNG")
    expected, raised = to_square(data, "x.png")[0], 0
    for flipped in flips(data, 200):
        try:
            assert to_square(flipped, "x.png")[0].tobytes() == expected.tobytes()
        except UnreadableError:
            raised += 1
    assert raised > 150


@pytest.mark.parametrize(
    "options", [{"mode": "RGB"}, {"mode": "L"}, {"mode": "CMYK"}], ids=["RGB", "gray", "CMYK"]
)
def test_jpeg_that_libjpeg_only_warns_of_is_unreadable(options):
    data = bytearray(encoded(picture(0, **options)))
    middle = len(data) * 3 // 4
    data[middle : middle + 2] = b"\xff\xd9"  # the end of the image, in the midst of it
    with Image.open(io.BytesIO(data)) as image:
        image.load()  # Pillow is silent
    with pytest.raises(UnreadableError):
        to_square(bytes(data), "x.JPEG")


@pytest.mark.parametrize("change", [-16, 16])
def test_forged_height_is_unreadable(change):
    data = bytearray(encoded(picture(0)))
    start = data.index(b"\xff\xc0") + 5
    data[start : start + 2] = (240 + change).to_bytes(2, "big")
    with pytest.raises(UnreadableError):
        to_square(bytes(data), "x.JPEG")


@pytest.mark.parametrize("size", [(500, 375), (2000, 1537), (4555, 4221)])
@pytest.mark.parametrize(
    ("mode", "options"),
    [("RGB", {}), ("L", {}), ("RGB", {"progressive": True}), ("RGB", {"subsampling": 0})],
)
def test_strict_decoding_gives_the_pixels_of_pillow(size, mode, options, monkeypatch):
    data = encoded(picture(0, size, mode), **options)
    strict = to_square(data, "x.JPEG")[0]
    monkeypatch.setattr("course_utils.data.image_files.JpegImageFile", ())  # an instance of nothing
    assert to_square(data, "x.JPEG")[0].tobytes() == strict.tobytes()

"""The ten pictures that lesson 01 ships, and the pack of them."""

import json
import zipfile

import numpy as np
from PIL import Image

from tests.lessons.lesson import COURSE

SHIPPED = COURSE / "solutions/01_jpeg_vs_zip/tiny"
PICTURES = sorted(SHIPPED.glob("*.JPEG"))


def test_no_label_equals_its_position():
    labels = json.loads((SHIPPED / "dataset.json").read_text())["labels"]
    assert sorted(labels) == [picture.name for picture in PICTURES]
    by_position = list(labels.values())
    for position, name in enumerate(sorted(labels)):
        assert labels[name] not in (position, by_position[position])


def test_pictures_are_asymmetric_and_some_are_grayscale():
    modes = set()
    for picture in PICTURES:
        with Image.open(picture) as image:
            assert image.size == (256, 256)
            modes.add(image.mode)
            pixels = np.asarray(image.convert("L"), float)
        for other in (pixels[::-1], pixels[:, ::-1], pixels.T):
            assert np.abs(pixels - other).mean() > 5
    assert modes == {"RGB", "L"}


def test_each_picture_has_its_credit():
    credits_text = (SHIPPED / "CREDITS.txt").read_text()
    assert [picture.name for picture in PICTURES if picture.name not in credits_text] == []


def test_pack_holds_the_files_of_its_folder():
    with zipfile.ZipFile(SHIPPED.with_suffix(".zip")) as pack:
        assert set(pack.namelist()) == {*(picture.name for picture in PICTURES), "dataset.json"}
        for member in pack.infolist():
            assert member.compress_type == zipfile.ZIP_STORED
            assert pack.read(member) == (SHIPPED / member.filename).read_bytes()

"""What is wrong with a zip is the same error of each reader, and names the file."""

import warnings
import zipfile

import numpy as np
import pytest

from course_utils.data import BrokenSampleError, IndexedZIPDataset, PackedImages, PackError, ZIPDataset
from course_utils.data.pack import INFO_NAME, PackInfo
from tests.image_set import numbered_jpeg, numbered_pack

NAME = "img00000000.JPEG"


def read_packed(path):
    images = PackedImages(path)
    for i in range(len(images)):
        images.read_into(i, np.empty(images.shape, np.uint8))


READERS = {
    "zipfile": lambda path: list(ZIPDataset(path, load_encoded=True)),
    "index": lambda path: list(IndexedZIPDataset(path, load_encoded=True)),
    "into arrays": read_packed,
}


def truncated(path):
    path.write_bytes(path.read_bytes()[:-9])


def text(path):
    path.write_bytes(b"no zip")


def empty(path):
    path.write_bytes(b"")


def encrypted(path):
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)


def duplicate(path):
    with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as pack:
        warnings.simplefilter("ignore")
        pack.writestr(NAME, numbered_jpeg(1))


def folder(path):
    path.unlink()
    path.mkdir()


def without_description(path):
    with zipfile.ZipFile(path, "w") as pack:
        pack.writestr(NAME, numbered_jpeg(0))


def without_images(path):
    with zipfile.ZipFile(path, "w") as pack:
        pack.writestr(INFO_NAME, PackInfo({}).to_json())


DAMAGES = [truncated, text, empty, encrypted, duplicate, folder, without_description, without_images]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("reader", READERS)
def test_unusable_zip_is_an_error_that_names_it(tmp_path, reader, damage):
    path = numbered_pack(tmp_path / "part0.zip", [numbered_jpeg(0), numbered_jpeg(1)])
    READERS[reader](path)
    damage(path)
    with pytest.raises(PackError, match=r"part0\.zip"):
        READERS[reader](path)


def forged_height(jpeg):
    """The frame header claims more rows than there are: libjpeg alone would fill them with grey."""
    at = jpeg.index(b"\xff\xc0") + 5
    return jpeg[:at] + b"\1\0" + jpeg[at + 2 :]


BROKEN = {
    "forged height": forged_height,
    "cut": lambda jpeg: jpeg[:-60],
    "EPS": lambda jpeg: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    "empty": lambda jpeg: b"",
}


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("reader", READERS)
def test_broken_image_with_a_right_checksum_is_an_error_that_names_it(tmp_path, reader, broken):
    images = [numbered_jpeg(0), BROKEN[broken](numbered_jpeg(1))]
    with pytest.raises(BrokenSampleError, match=r"part0\.zip: img00000001\.JPEG"):
        READERS[reader](numbered_pack(tmp_path / "part0.zip", images))

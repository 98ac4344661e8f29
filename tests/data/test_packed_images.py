import json
import zipfile

import numpy as np
import pytest

from course_utils.data import zip_index
from course_utils.data.pack import PackError, RawLayout
from course_utils.data.packed_images import PackedImages
from course_utils.data.zip_index import ZipIndex
from tests.image_set import numbered_jpeg, numbered_pack


def decoded(images):
    pixels = np.full((len(images), *images.shape), 173, np.uint8)
    for i, slot in enumerate(pixels):
        images.read_into(i, slot)
    return pixels


def test_shards_are_merged_in_the_order_of_the_names(tmp_path):
    shards = [
        numbered_pack(tmp_path / f"{first}.zip", [numbered_jpeg(i) for i in range(first, first + 3)], first)
        for first in (3, 0)
    ]
    images = PackedImages(shards)
    assert (len(images), images.shape, images.labels.tolist()) == (6, (16, 24, 3), list(range(6)))
    assert np.array_equal(decoded(images)[:3], decoded(PackedImages(shards[1])))


def test_saved_index_replaces_scan(tmp_path, monkeypatch):
    path = numbered_pack(tmp_path / "a.zip", [numbered_jpeg(0), numbered_jpeg(1)])
    expected = decoded(PackedImages(path))
    ZipIndex(path).save(f"{path}.index.npy")
    monkeypatch.delattr(zip_index, "scan")
    assert np.array_equal(decoded(PackedImages(path)), expected)


def test_shape_is_that_of_first_readable_image(tmp_path):
    path = numbered_pack(tmp_path / "a.zip", [b"", numbered_jpeg(1, (8, 9)), numbered_jpeg(2, (8, 9))])
    assert PackedImages(path).shape == (9, 8, 3)


@pytest.mark.parametrize("content", ["{}", "no json", json.dumps({"labels": {"other.JPEG": 1}})])
def test_missing_labels_are_rejected(tmp_path, content):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr("img00000000.JPEG", numbered_jpeg(0))
        zipped.writestr("dataset.json", content)
    with pytest.raises(PackError, match=r"a\.zip: no dataset\.json with a label for each"):
        PackedImages(tmp_path / "a.zip")


def test_error_names_raw_member_of_wrong_size(tmp_path):
    path = numbered_pack(tmp_path / "a.zip", [bytes(60), bytes(59)], layout=RawLayout("HWC", (5, 4, 3)))
    images = PackedImages(path)
    with pytest.raises(PackError, match=r"img00000001\.JPEG"):
        images.read_into(1, np.empty((5, 4, 3), np.uint8))

import json
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from course_utils.data import IndexedZIPDataset, ZIPDataset
from course_utils.data.pack import ChangedFileError, PackError, RawLayout
from course_utils.data.packed_images import PackedImages
from course_utils.data.zips import zip_index
from course_utils.data.zips.zip_file import index_path
from course_utils.data.zips.zip_index import ZipIndex
from tests.image_set import numbered_jpeg, numbered_pack

RAW = RawLayout("HWC", (16, 24, 3))


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
    ZipIndex(path).save()
    monkeypatch.delattr(zip_index, "scan")
    assert np.array_equal(decoded(PackedImages(path)), expected)


def test_damaged_saved_index_is_replaced_by_a_scan(tmp_path):
    """A flipped name or offset would give another image, or another label."""
    path = numbered_pack(tmp_path / "a.zip", [numbered_jpeg(i) for i in range(4)])
    expected, saved = decoded(PackedImages(path)), index_path(path)
    ZipIndex(path).save()
    whole, rng = saved.read_bytes(), np.random.default_rng(0)
    for position in rng.integers(0, len(whole), 100):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        assert np.array_equal(decoded(PackedImages(path)), expected), position
    for other in (b"", b"no array", whole[:-30]):
        saved.write_bytes(other)
        assert np.array_equal(decoded(PackedImages(path)), expected)


def test_nothing_to_read_is_an_error_with_a_reason(tmp_path):
    with pytest.raises(PackError, match="an empty list of packs: no images inside"):
        PackedImages([])
    with pytest.raises(PackError, match=r"a\.zip: no images inside"):
        PackedImages(numbered_pack(tmp_path / "a.zip", []))
    with pytest.raises(FileNotFoundError, match=r"b\.zip"):
        PackedImages(tmp_path / "b.zip")
    with pytest.raises(PackError, match="give the zip file itself"):
        PackedImages(tmp_path)


@pytest.mark.parametrize("read", [PackedImages, IndexedZIPDataset, ZIPDataset])
def test_a_pipe_is_refused_and_not_waited_for(read, tmp_path):
    os.mkfifo(tmp_path / "a.zip")
    with pytest.raises(PackError, match=r"a\.zip is no regular file; give the zip file itself"):
        read(tmp_path / "a.zip")


def test_pack_given_twice_is_refused(tmp_path):
    path = numbered_pack(tmp_path / "a.zip", [numbered_jpeg(0)])
    copy = shutil.copy(path, tmp_path / "copy.zip")
    for packs in ([path, path], [path, copy]):
        with pytest.raises(PackError, match=r"img00000000\.JPEG occurs more than once\. Give each pack once"):
            PackedImages(packs)


def test_unusable_zips_are_refused_by_name(tmp_path):
    path = numbered_pack(tmp_path / "a.zip", [numbered_jpeg(0)])
    whole = path.read_bytes()
    encrypted = bytearray(whole)
    encrypted[whole.index(b"PK\1\2") + 8] |= 1
    deflated = tmp_path / "deflated.zip"
    with zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("img00000000.JPEG", bytes(99))
    unusable = {"cut": whole[:-9], "text": b"no zip", "empty": b"", "encrypted": bytes(encrypted)}
    for kind, content in unusable.items():
        (tmp_path / f"{kind}.zip").write_bytes(content)
    for kind in [*unusable, "deflated"]:
        with pytest.raises(PackError, match=rf"{kind}\.zip.*(make or copy it again|pack it stored)"):
            PackedImages(tmp_path / f"{kind}.zip")


def test_raw_pack_without_layout_needs_one_as_argument(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (2, *RAW.shape), np.uint8)
    path = numbered_pack(tmp_path / "old.zip", [image.tobytes() for image in pixels])
    with pytest.raises(PackError, match=r"no image can be read as a JPEG file; .*pass their layout"):
        PackedImages(path)
    assert np.array_equal(decoded(PackedImages(path, layout=RAW)), pixels)
    stated = numbered_pack(tmp_path / "raw.zip", [image.tobytes() for image in pixels], layout=RAW)
    with pytest.raises(PackError, match=r"but .*CHW.* was requested"):
        PackedImages(stated, layout=RawLayout("CHW", (3, 16, 24)))


def test_shape_is_that_of_first_readable_image(tmp_path):
    path = numbered_pack(tmp_path / "a.zip", [b"", numbered_jpeg(1, (8, 9)), numbered_jpeg(2, (8, 9))])
    assert PackedImages(path).shape == (9, 8, 3)


@pytest.mark.parametrize("content", ["{}", "no json", json.dumps({"labels": {"other.JPEG": 1}})])
def test_missing_labels_are_rejected(tmp_path, content):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr("img00000000.JPEG", numbered_jpeg(0))
        zipped.writestr("dataset.json", content)
    with pytest.raises(PackError, match=r"a\.zip: (dataset\.json does not describe|1 members have no label)"):
        PackedImages(tmp_path / "a.zip")


def test_error_names_raw_member_of_wrong_size(tmp_path):
    path = numbered_pack(tmp_path / "a.zip", [bytes(60), bytes(59)], layout=RawLayout("HWC", (5, 4, 3)))
    images = PackedImages(path)
    with pytest.raises(PackError, match=r"img00000001\.JPEG"):
        images.read_into(1, np.empty((5, 4, 3), np.uint8))


def pack_of(path: Path, layout: RawLayout | None) -> Path:
    """A pack of four images, as JPEG files or as raw pixels."""
    pixels = np.random.default_rng(0).integers(0, 256, (4, *RAW.shape), np.uint8)
    members = [image.tobytes() for image in pixels] if layout else [numbered_jpeg(i) for i in range(4)]
    return numbered_pack(path, members, layout=layout)


@pytest.mark.parametrize("layout", [None, RAW], ids=["jpeg", "raw"])
def test_flipped_byte_is_an_error_or_changes_nothing(tmp_path, layout):
    """Anywhere in the file: in pixels, headers, labels or directory."""
    path = pack_of(tmp_path / "a.zip", layout)
    whole, images = path.read_bytes(), PackedImages(path)
    expected = decoded(images)
    rng, raised = np.random.default_rng(1), 0
    for position in rng.integers(0, len(whole), 200):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            found = PackedImages(path)
            assert np.array_equal(decoded(found), expected), position
            assert np.array_equal(found.labels, images.labels), position
        except PackError:
            raised += 1
    assert raised > 100


@pytest.mark.parametrize("layout", [None, RAW], ids=["jpeg", "raw"])
def test_pack_that_is_overwritten_while_open_is_an_error(tmp_path, layout):
    path = pack_of(tmp_path / "a.zip", layout)
    images = PackedImages(path)
    with path.open("r+b") as file:  # the same sizes, other images
        whole = bytearray(file.read())
        first, second = images._shards[0].index.table[1:3]  # after dataset.json
        size = min(first["size"], second["size"]) - 40
        whole[first["offset"] + 60 : first["offset"] + 60 + size] = whole[second["offset"] + 60 :][:size]
        file.seek(0)
        file.write(whole)
    with pytest.raises(ChangedFileError, match=r"a\.zip: img00000000\.JPEG: the file was changed"):
        images.read_into(0, np.empty(images.shape, np.uint8))


def test_without_verification_damage_goes_unnoticed(tmp_path):
    """The price of `verify=False`, as its documentation says."""
    path = pack_of(tmp_path / "a.zip", RAW)
    expected = decoded(PackedImages(path))
    whole = bytearray(path.read_bytes())
    whole[200] ^= 1
    path.write_bytes(whole)
    assert np.abs(decoded(PackedImages(path, verify=False)).astype(int) - expected).sum() == 1

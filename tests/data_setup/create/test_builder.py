import io
import json
import statistics
import zipfile

import numpy as np
import pytest
import torch
from PIL import Image

from course_utils.data import JpegDataset, ZIPDataset
from course_utils.data.pack import INFO_NAME, PackInfo, RawLayout
from data_setup.cli import main
from tests.data_setup.file_content import files_of


def test_three_forms_hold_the_same_samples(photo_set):
    jpeg = JpegDataset(photo_set / "disk_transformed")
    encoded = ZIPDataset(photo_set / "zip_encoded" / "part0.zip", load_encoded=True)
    raw = ZIPDataset(photo_set / "zip" / "part0.zip")
    assert len(jpeg) == len(encoded) == len(raw) == 40
    for (a, x), (b, y), (c, z) in zip(jpeg, encoded, raw, strict=True):
        assert x == y == z
        assert torch.equal(a, b)
        assert torch.equal(a, c)


def test_encoded_members_equal_the_jpeg_files(photo_set):
    paths = sorted((photo_set / "disk_transformed").glob("*.JPEG"))
    assert len(paths) == 40
    with zipfile.ZipFile(photo_set / "zip_encoded" / "part0.zip") as pack:
        for path in paths:
            assert pack.read(path.name) == path.read_bytes()


@pytest.mark.parametrize("form", ["zip", "zip_encoded"])
def test_archives_are_intact_stored_and_without_time_stamp(photo_set, form):
    with zipfile.ZipFile(photo_set / form / "part0.zip") as pack:
        assert pack.testzip() is None
        assert {m.compress_type for m in pack.infolist()} == {zipfile.ZIP_STORED}
        assert {m.date_time for m in pack.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        info = PackInfo.from_json(pack.read(INFO_NAME))
        assert info.to_json() == pack.read(INFO_NAME).decode()
    assert info.layout == (RawLayout("HWC", (256, 256, 3)) if form == "zip" else None)


def test_file_sizes_resemble_imagenet_at_256_pixels(photo_set):
    sizes = [path.stat().st_size for path in (photo_set / "disk_transformed").glob("*.JPEG")]
    assert 15_000 <= statistics.median(sizes) <= 30_000


def test_jpeg_quality_is_90(photo_set):
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "JPEG", quality=90)
    path = photo_set / "disk_transformed" / "img00000000.JPEG"
    with Image.open(buffer) as known, Image.open(path) as image:
        assert image.quantization == known.quantization
        assert (image.mode, image.size) == ("RGB", (256, 256))


def test_manifest_states_counts_and_sizes(photo_set):
    manifest = json.loads((photo_set / "manifest.json").read_text())
    assert manifest["images"] == 40
    assert manifest["identity"] == {"source": "photographs", "seed": 0, "count": 40, "shards": 1}
    assert manifest["forms"]["disk_transformed"]["files"] == 41
    for form, size in manifest["forms"].items():
        files = list((photo_set / form).glob("[!.]*"))  # an index is hidden
        assert size == {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}
    assert {"python", "pillow", "numpy"} <= set(manifest["versions"])


def test_same_seed_gives_same_bytes_for_any_number_of_workers(photo_set, tmp_path):
    assert main(["photos", "--count", "40", "--out", str(tmp_path), "--workers", "2"]) == 0
    assert files_of(tmp_path) == files_of(photo_set)


def test_labels_are_balanced(photo_set):
    labels = np.loadtxt(photo_set / "disk_transformed" / "validation_labels_10k.txt", int)
    assert set(np.bincount(labels, minlength=12)) == {3, 4}

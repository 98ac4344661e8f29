"""Loaders get the colour JPEG files of a source, in the order of their names."""

import hashlib
import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from tests.bench.loading import photographs
from tests.bench.loading.photographs import resave, unpack


def image(mode="RGB", kind="JPEG", side=8):
    file = io.BytesIO()
    Image.new(mode, (side, side)).save(file, kind)
    return file.getvalue()


FILES = {
    "b.JPEG": image(),
    "a.jpg": image(side=9),
    "grey.JPEG": image("L"),
    "cmyk.JPEG": image("CMYK"),
    "png.JPEG": image(kind="PNG"),
    "broken.JPEG": b"no image",
    "dataset.json": b"{}",
}


def write_files(folder):
    (folder / "class").mkdir()
    for name, data in FILES.items():
        (folder / "class" / name).write_bytes(data)
    return folder


def write_zip(folder):
    with zipfile.ZipFile(folder / "pack.zip", "w") as zipped:
        for name, data in FILES.items():
            zipped.writestr(f"class/{name}", data)
    return folder / "pack.zip"


def write_set(folder):
    for form in ("zip", "zip_encoded"):
        (folder / form).mkdir()
        write_zip(folder / form)
    (folder / "zip" / "pack.zip").write_bytes(b"raw pixels are not read")
    return folder


@pytest.mark.parametrize("write", [write_files, write_zip, write_set])
def test_colour_jpeg_files_are_unpacked_in_their_order(tmp_path, write):
    (tmp_path / "source").mkdir()
    source = write(tmp_path / "source")
    count, digest = unpack(source, tmp_path / "all", None)
    assert count == 2
    found = [path.read_bytes() for path in sorted((tmp_path / "all").iterdir())]
    assert found == [FILES["a.jpg"], FILES["b.JPEG"]]
    count, other = unpack(source, tmp_path / "one", 1)
    assert count == 1
    assert other != digest


def test_photographs_are_saved_again_with_as_many_bytes_on_average(tmp_path, monkeypatch):
    pixels = np.random.default_rng(0).integers(0, 256, (48, 48, 3), np.uint8)
    path = tmp_path / "img0.JPEG"
    Image.fromarray(pixels).save(path, "JPEG", quality=100)
    before = path.stat().st_size
    for wanted in (before // 3, before // 2):
        monkeypatch.setattr(photographs, "IMAGENET_BYTES", wanted)
        digest = resave(tmp_path)
        assert path.stat().st_size == pytest.approx(wanted, rel=0.05)
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def test_source_without_photographs_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="no colour JPEG files"):
        unpack(tmp_path, tmp_path / "out", None)

"""A set of packed full-size photographs is complete and reproducible."""

import io
import shutil
import statistics

import pytest
from PIL import Image

from course_utils.data.zips.zip_index import ZipIndex
from data_setup.cli import main
from tests.data_setup.file_content import files_of

COUNT = 30


def command(out, *more):
    return ["full_size", "--count", str(COUNT), "--shards", "2", "--out", str(out), *more]


@pytest.fixture(scope="module")
def full_size(tmp_path_factory):
    out = tmp_path_factory.mktemp("full_size") / "set"
    assert main(command(out, "--workers", "1")) == 0
    return out


def images_of(out):
    packs = [ZipIndex(path) for path in sorted((out / "zip_encoded").glob("*.zip"))]
    for pack in packs:
        for i in range(len(pack)):
            if pack.name(i) != "dataset.json":
                yield Image.open(io.BytesIO(pack.read(i)))


def test_images_have_mixed_sizes_around_500_by_375(full_size):
    sizes = [image.size for image in images_of(full_size)]
    assert len(sizes) == COUNT
    assert len(set(sizes)) > COUNT / 2
    assert 420 <= statistics.mean(width for width, _ in sizes) <= 550
    assert 330 <= statistics.mean(height for _, height in sizes) <= 450
    assert {max(size) <= 600 and max(size) >= 400 for size in sizes} == {True}


def test_set_is_verified_and_described(full_size, capsys):
    assert main(["verify", "--out", str(full_size)]) == 0
    assert main(["info", "--out", str(full_size)]) == 0
    text = capsys.readouterr().out
    assert "30 images: full-size photographs (seed 0, count 30, shards 2)" in text
    assert "zip_encoded/" in text
    assert "missing" not in text


def test_same_bytes_for_any_number_of_workers(full_size, tmp_path):
    assert main(command(tmp_path, "--workers", "3")) == 0
    assert files_of(tmp_path) == files_of(full_size)


def test_other_sets_are_left_alone(full_size, tmp_path, capsys):
    file = tmp_path / "zip_encoded/part0.zip"
    file.parent.mkdir()
    shutil.copy(full_size / "zip_encoded/part0.zip", file)
    before = files_of(tmp_path)
    assert main(command(tmp_path)) == 1
    assert "choose another folder" in capsys.readouterr().err
    assert files_of(tmp_path) == before


def test_only_the_packed_form_is_there(full_size):
    assert sorted(path.name for path in full_size.iterdir()) == ["manifest.json", "zip_encoded"]

"""The indexes of a set belong to its archives, and are made again where they are missing."""

import shutil

import pytest

from course_utils.data.zips.saved_table import load
from course_utils.data.zips.zip_file import index_path
from course_utils.data.zips.zip_index import ZipIndex
from data_setup.cli import main

FORMS = ("zip_encoded", "zip")


@pytest.mark.parametrize("form", FORMS)
def test_index_belongs_to_its_archive(photo_set, form):
    path = photo_set / form / "part0.zip"
    index = ZipIndex(path)
    assert load(index_path(path), index.fileno()) is not None


def test_missing_index_is_made_again(photo_set, tmp_path):
    copy = shutil.copytree(photo_set, tmp_path / "set")
    saved = [index_path(copy / form / "part0.zip") for form in FORMS]
    before = [path.read_bytes() for path in saved]
    for path in saved:
        path.unlink()
    assert main(["photos", "--count", "40", "--out", str(copy)]) == 0
    assert [path.read_bytes() for path in saved] == before


def test_set_that_cannot_be_indexed_is_left_as_it_is(photo_set, tmp_path):
    """`verify` tells which archive has changed."""
    copy = shutil.copytree(photo_set, tmp_path / "set")
    path = copy / "zip_encoded/part0.zip"
    index_path(path).unlink()
    path.write_bytes(bytes(path.stat().st_size))
    assert main(["photos", "--count", "40", "--out", str(copy)]) == 0
    assert main(["verify", "--out", str(copy)]) == 1

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from data_setup.lesson_assets.tiny_set import crops_by_name, make_tiny_set

SHIPPED = Path(__file__).parents[3] / "solutions" / "01_jpeg_vs_zip" / "tiny"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lesson") / "tiny"
    make_tiny_set(folder)
    return folder


def test_makes_the_shipped_files(made):
    assert sorted(p.name for p in made.iterdir()) == sorted(p.name for p in SHIPPED.iterdir())


@pytest.mark.parametrize("name", ["dataset.json", "CREDITS.txt"])
def test_shipped_text_is_up_to_date(made, name):
    assert (made / name).read_text() == (SHIPPED / name).read_text()


@pytest.mark.parametrize("name", crops_by_name())
def test_shipped_picture_is_up_to_date(made, name):
    with Image.open(made / name) as new, Image.open(SHIPPED / name) as old:
        assert new.mode == old.mode
        assert new.size == old.size == (256, 256)
        # Another libjpeg may differ in a few grey levels.
        assert np.abs(np.asarray(new, float) - np.asarray(old, float)).mean() < 2


def test_no_label_equals_its_position():
    labels = json.loads((SHIPPED / "dataset.json").read_text())["labels"]
    assert len(labels) == len(crops_by_name())
    by_position = list(labels.values())
    for position, name in enumerate(sorted(labels)):
        assert labels[name] not in (position, by_position[position])


def test_pictures_are_asymmetric_and_some_are_grayscale():
    modes = set()
    for name in crops_by_name():
        with Image.open(SHIPPED / name) as image:
            modes.add(image.mode)
            pixels = np.asarray(image.convert("L"), float)
        for other in (pixels[::-1], pixels[:, ::-1], pixels.T):
            assert np.abs(pixels - other).mean() > 5
    assert modes == {"RGB", "L"}


def assert_pack_of(folder):
    with zipfile.ZipFile(folder.with_suffix(".zip")) as pack:
        assert set(pack.namelist()) == {*crops_by_name(), "dataset.json"}
        for member in pack.infolist():
            assert member.compress_type == zipfile.ZIP_STORED
            assert pack.read(member) == (folder / member.filename).read_bytes()


def test_pack_holds_the_files_of_its_folder(made):
    assert_pack_of(made)
    assert_pack_of(SHIPPED)

import io
import json
import zipfile

import numpy as np
import pytest
import torch
from PIL import Image

from course_utils.data import JpegDataset, ZIPDataset
from data_setup.cli import main
from data_setup.format.manifest import read_manifest
from data_setup.sources.collection_source import CollectionSource
from tests.data_setup.file_content import files_of
from tests.data_setup.image_collections import (
    as_folder,
    as_tar,
    as_zip,
    bright_corner,
    encoded,
    ground_truth,
    name,
    odd_files,
    picture,
)

COUNT = 20


def make(source, out, *options):
    return main(["imagenet", str(source), "--yes", "--out", str(out), "--workers", "1", *map(str, options)])


@pytest.fixture(scope="module")
def tar(tmp_path_factory):
    return as_tar(tmp_path_factory.mktemp("tar") / "ILSVRC2012_img_val.tar", odd_files())


@pytest.fixture(scope="module")
def truth(tmp_path_factory):
    return ground_truth(tmp_path_factory.mktemp("truth") / "ILSVRC2012_validation_ground_truth.txt")


@pytest.fixture(scope="module")
def made(tar, truth, tmp_path_factory):
    """20 of 30 images, all of the odd ones among them."""
    out = tmp_path_factory.mktemp("made")
    assert make(tar, out, "--labels", truth, "--count", COUNT, "--seed", SEED) == 0
    return out


def drawn(seed):
    return set(np.random.default_rng(seed).permutation(30)[:COUNT].tolist())


SEED = next(seed for seed in range(10_000) if {1, 2, 3, 4, 5, 6} <= drawn(seed))


def origins(out):
    return {f.path.split("/")[1]: f.origin for f in read_manifest(out / "manifest.json").files if f.origin}


def test_set_is_verified_and_its_forms_agree(made):
    assert main(["verify", "--out", str(made)]) == 0
    jpeg = JpegDataset(made / "disk_transformed")
    encoded_set = ZIPDataset(made / "zip_encoded" / "part0.zip", load_encoded=True)
    raw = ZIPDataset(made / "zip" / "part0.zip")
    assert len(jpeg) == COUNT
    for (a, x), (b, y), (c, z) in zip(jpeg, encoded_set, raw, strict=True):
        assert x == y == z
        assert torch.equal(a, b)
        assert torch.equal(a, c)


def test_labels_follow_the_order_of_the_names(made):
    labels = JpegDataset(made / "disk_transformed").labels
    assert len(labels) == COUNT
    for label, origin in zip(labels, origins(made).values(), strict=True):
        assert label == 100 + int(origin.split("_")[-1].split(".")[0])


def test_images_other_than_replacements_are_in_the_order_of_their_names(made):
    kept = [origin for origin in origins(made).values() if origin in map(name, drawn(SEED))]
    assert len(kept) == COUNT - 2
    assert kept == sorted(kept)


def test_unreadable_files_are_replaced_by_the_next_in_random_order(made):
    order = np.random.default_rng(SEED).permutation(30)
    replacements = [name(index) for index in order[COUNT : COUNT + 2]]
    used = set(origins(made).values())
    assert used == set(map(name, drawn(SEED) - {5, 6})) | set(replacements)
    report = "\n".join(read_manifest(made / "manifest.json").header["oddities"])
    for file in (name(5), name(6)):
        assert f"{file} is unreadable" in report
    for file in replacements:
        assert f"{file} took the place of img" in report


def test_odd_but_readable_files_are_counted(made):
    handled = read_manifest(made / "manifest.json").header["handled"]
    assert handled == {"CMYK": 1, "PNG named as JPEG": 1, "grayscale": 1, "rotated by EXIF": 1}


def test_rotated_image_is_stored_upright(made):
    (stored,) = [image for image, origin in origins(made).items() if origin == name(4)]
    with Image.open(made / "disk_transformed" / stored) as image:
        assert bright_corner(image) == 1  # a quarter turn clockwise


@pytest.mark.parametrize("pack", [as_folder, as_zip])
def test_folder_and_zip_give_the_same_bytes_as_the_tar(made, truth, tmp_path, pack):
    source = pack(tmp_path / "source", odd_files())
    assert make(source, tmp_path / "out", "--labels", truth, "--count", COUNT, "--seed", SEED) == 0
    assert files_of(tmp_path / "out") == files_of(made)


def test_set_is_smaller_without_enough_readable_images(tar, truth, tmp_path):
    assert make(tar, tmp_path, "--labels", truth) == 0
    header = read_manifest(tmp_path / "manifest.json").header
    assert header["images"] == 28
    assert "no image is left to take the place of img00000005.JPEG" in header["oddities"]
    assert main(["verify", "--out", str(tmp_path)]) == 0
    with zipfile.ZipFile(tmp_path / "zip" / "part0.zip") as pack:
        assert pack.testzip() is None
        assert len(pack.namelist()) == 29
    jpeg, raw = JpegDataset(tmp_path / "disk_transformed"), ZIPDataset(tmp_path / "zip" / "part0.zip")
    assert len(jpeg) == 28
    assert all(torch.equal(a, b) and x == y for (a, x), (b, y) in zip(jpeg, raw, strict=True))


def test_folders_are_classes_without_labels(tmp_path):
    files = {f"{kind}/{i}.jpg": encoded(picture(i)) for kind in ("wolf", "ant") for i in range(3)}
    assert make(as_folder(tmp_path / "source", files), tmp_path / "out") == 0
    assert read_manifest(tmp_path / "out" / "manifest.json").header["classes"] == ["ant", "wolf"]
    assert JpegDataset(tmp_path / "out" / "disk_transformed").labels == [0, 0, 0, 1, 1, 1]


def test_finished_set_is_recognised_after_the_source_has_moved(made, truth, tmp_path, capsys):
    before = files_of(made)
    source = as_zip(tmp_path / "moved.zip", odd_files())
    assert make(source, made, "--labels", truth, "--count", COUNT, "--seed", SEED) == 0
    assert "already holds the set" in capsys.readouterr().out
    assert files_of(made) == before


def test_count_above_the_number_of_images_is_refused(tar, truth, tmp_path, capsys):
    assert make(tar, tmp_path / "out", "--labels", truth, "--count", 31) == 1
    assert "holds 30 images" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_source_without_readable_images_is_refused(tmp_path, capsys):
    source = as_folder(tmp_path / "source", {"a/1.jpg": b"", "a/2.jpg": b"x"})
    assert make(source, tmp_path / "out") == 1
    assert "no image of the source could be read" in capsys.readouterr().err
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_missing_source_is_named(tmp_path, capsys):
    assert make(tmp_path / "nowhere.tar", tmp_path / "out") == 1
    assert "nowhere.tar" in capsys.readouterr().err


def test_manifest_is_json(made):
    assert json.loads((made / "manifest.json").read_text())["images"] == COUNT


def test_odd_number_of_classes_needs_consent(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    files = {f"{kind}/{i}.jpg": encoded(picture(i)) for kind in "ab" for i in range(3)}
    source, out = as_folder(tmp_path / "source", files), tmp_path / "out"
    labels = ground_truth(tmp_path / "lines.txt", 6)
    command = ["imagenet", str(source), "--out", str(out), "--workers", "1"]
    assert main([*command, "--labels", str(labels)]) == 1
    output = capsys.readouterr()
    assert "6 images, 6 classes" in output.out
    assert "--yes" in output.err
    assert not out.exists()
    (source / "b/notes.txt").write_text("")
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "6 images, 2 classes" in output
    assert "1 file skipped, no images by their names: b/notes.txt" in output


def test_negative_seed_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["photos", "--seed", "-1", "--out", str(tmp_path)])
    assert "-1 is less than 0" in capsys.readouterr().err


def test_set_of_replaced_pictures_is_another_set(tmp_path, capsys):
    files = {f"{kind}/{i}.jpg": encoded(picture(i)) for kind in "ab" for i in range(3)}
    source, out = as_folder(tmp_path / "source", files), tmp_path / "out"
    assert make(source, out) == 0
    (source / "a/1.jpg").write_bytes(encoded(picture(9)))
    assert make(source, out) == 1
    assert "Nothing was changed" in capsys.readouterr().err


def test_set_of_version_1_0_is_recognised(tmp_path, capsys, monkeypatch):
    files = {f"{kind}/{i}.jpg": encoded(picture(i)) for kind in "ab" for i in range(3)}
    source, out = as_folder(tmp_path / "source", files), tmp_path / "out"
    identity = CollectionSource.identity
    with monkeypatch.context() as patch:
        old = lambda self: {key: value for key, value in identity(self).items() if key != "sizes"}  # noqa: E731
        patch.setattr(CollectionSource, "identity", old)
        assert make(source, out) == 0
    assert make(source, out) == 0
    assert "already holds the set" in capsys.readouterr().out

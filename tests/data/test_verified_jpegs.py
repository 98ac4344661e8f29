import hashlib
import json
import shutil

import pytest
import torch

from course_utils.data import LABELS_NAME, JpegDataset, PackError, VerifiedJpegDataset
from course_utils.storage.epoch_io import count_epoch
from course_utils.storage.io_counter import FileOps
from tests.image_set import COUNT

FORM = "disk_transformed"


@pytest.fixture
def folder(image_set, tmp_path):
    """The JPEG files of a set with a manifest."""
    copy = shutil.copytree(image_set / FORM, tmp_path / FORM)
    files = {f"{FORM}/{path.name}": {"sha256": sha256(path)} for path in sorted(copy.iterdir())}
    write(tmp_path, files | {"zip/part0.zip": {"sha256": "00" * 32}})
    return copy


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write(top, files):
    (top / "manifest.json").write_text(json.dumps({"files": files}))


def test_samples_are_those_of_the_files(folder, monkeypatch):
    plain = JpegDataset(folder)
    monkeypatch.chdir(folder)
    for path in (folder, "."):
        verified = VerifiedJpegDataset(path, lambda image: image[:1])
        assert len(verified) == COUNT
        for (image, label), (expected, expected_label) in zip(verified, plain, strict=True):
            assert torch.equal(image, expected[:1])
            assert label == expected_label


def test_an_epoch_opens_each_file_once(folder):
    size = sum(path.stat().st_size for path in folder.glob("*.JPEG"))
    epoch = count_epoch(lambda: VerifiedJpegDataset(folder)).epoch
    assert epoch == FileOps(opens=COUNT, stats=COUNT, reads=2 * COUNT, nbytes=size)


@pytest.mark.parametrize("bit", range(8))
def test_flipped_bit_names_the_file(folder, bit):
    dataset = VerifiedJpegDataset(folder)
    path = folder / dataset.names[5]
    content = bytearray(path.read_bytes())
    content[-100] ^= 1 << bit
    path.write_bytes(content)
    with pytest.raises(
        PackError, match=rf"{path.name}: its content has changed .* make or copy the set again"
    ):
        dataset[5]
    with pytest.raises(PackError):
        dataset[5 - COUNT]


def test_changed_label_is_an_error(folder):
    text = (folder / LABELS_NAME).read_text()
    (folder / LABELS_NAME).write_text(text.replace("5", "4"))
    with pytest.raises(PackError, match=LABELS_NAME):
        VerifiedJpegDataset(folder)


def test_other_files_than_those_of_the_manifest_are_an_error(folder):
    labels = folder / LABELS_NAME
    added = folder / "img99999999.JPEG"
    added.write_bytes(b"")
    labels.write_text(labels.read_text() + "\n0")
    with pytest.raises(PackError, match=r"img99999999\.JPEG: not in the manifest; .*verify"):
        VerifiedJpegDataset(folder)
    added.unlink()
    (folder / "img00000003.JPEG").unlink()
    labels.write_text("\n".join(map(str, range(COUNT - 1))))
    with pytest.raises(PackError, match=r"img00000003\.JPEG: missing"):
        VerifiedJpegDataset(folder)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"files": 3}', '{"files": {"a": 3}}', '{"files": {"a": {"sha256": "0g"}}}', "[" * 9999],
)
def test_damaged_manifest_is_an_error(folder, text):
    (folder.parent / "manifest.json").write_text(text)
    with pytest.raises(PackError, match=r"manifest\.json is damaged"):
        VerifiedJpegDataset(folder)


def test_short_hash_is_an_error(folder):
    write(folder.parent, {f"{FORM}/{path.name}": {"sha256": "00"} for path in folder.iterdir()})
    with pytest.raises(PackError, match="another length"):
        VerifiedJpegDataset(folder)


def test_set_without_manifest_is_an_error(folder):
    (folder.parent / "manifest.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"manifest\.json"):
        VerifiedJpegDataset(folder)

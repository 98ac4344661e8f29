import random
import shutil

import pytest

from data_setup.cli import main
from data_setup.inspect.verify import find_problems
from tests.data_setup.file_content import flip_bit


@pytest.fixture
def copied(photo_set, tmp_path):
    return shutil.copytree(photo_set, tmp_path / "set")


def test_intact_set_has_no_problems(photo_set, capsys):
    assert list(find_problems(photo_set)) == []
    assert main(["verify", "--out", str(photo_set)]) == 0
    assert "all files match the manifest" in capsys.readouterr().out


@pytest.mark.parametrize("position", [0, -1])
@pytest.mark.parametrize(
    "name",
    [
        "disk_transformed/img00000007.JPEG",
        "disk_transformed/validation_labels_10k.txt",
        "zip_encoded/part0.zip",
        "zip/part0.zip",
    ],
)
def test_file_with_a_flipped_bit_is_named(copied, name, position):
    flip_bit(copied / name, position)
    (problem,) = find_problems(copied)
    assert problem.startswith(f"{name}: ")
    assert "content has changed" in problem


def test_changed_manifest_is_detected(copied):
    text = (copied / "manifest.json").read_text()
    (copied / "manifest.json").write_text(text.replace('"seed": 0', '"seed": 1'))
    (problem,) = find_problems(copied)
    assert problem.startswith("manifest.json: ")


@pytest.mark.parametrize("name", ["disk_transformed/img00000007.JPEG", "zip/part0.zip"])
def test_missing_file_is_named(copied, name):
    (copied / name).unlink()
    assert list(find_problems(copied)) == [f"{name}: missing"]


def test_file_of_a_missing_form_is_named(copied):
    shutil.rmtree(copied / "zip")
    assert list(find_problems(copied)) == ["zip/part0.zip: missing"]


@pytest.mark.parametrize("name", ["disk_transformed/img99999999.JPEG", "zip/part1.zip", "notes.txt"])
def test_extra_file_is_named(copied, name):
    (copied / name).write_bytes(b"")
    assert list(find_problems(copied)) == [f"{name}: not in the manifest"]


def test_truncated_file_is_named_with_both_sizes(copied):
    path = copied / "zip_encoded" / "part0.zip"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1])
    assert list(find_problems(copied)) == [f"zip_encoded/part0.zip: {size - 1} bytes instead of {size}"]


def test_command_fails_and_lists_all_problems(copied, capsys):
    flip_bit(copied / "zip" / "part0.zip", 1000)
    (copied / "disk_transformed" / "img00000001.JPEG").unlink()
    assert main(["verify", "--out", str(copied)]) == 1
    output = capsys.readouterr()
    assert "zip/part0.zip: its content" in output.out
    assert "img00000001.JPEG: missing" in output.out
    assert "2 problems" in output.err


def test_set_without_manifest_is_reported(tmp_path, capsys):
    assert main(["verify", "--out", str(tmp_path)]) == 1
    assert "no manifest.json" in capsys.readouterr().err


@pytest.mark.parametrize("count", [10, pytest.param(400, marks=pytest.mark.proof)])
def test_flipped_manifest_is_reported_by_every_command(copied, count):
    manifest, rng = copied / "manifest.json", random.Random(0)
    whole = manifest.read_bytes()
    for _ in range(count):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        manifest.write_bytes(damaged)
        assert main(["verify", "--out", str(copied)]) == 1
        assert main(["photos", "--count", "40", "--out", str(copied)]) == 1
        assert main(["info", "--out", str(copied)]) in (0, 1)

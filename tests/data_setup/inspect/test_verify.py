import shutil

import pytest

from data_setup.cli import main
from data_setup.inspect.verify import problems


@pytest.fixture
def copied(photo_set, tmp_path):
    return shutil.copytree(photo_set, tmp_path / "set")


def flip(path, position):
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)


def test_a_sound_set_has_no_problems(photo_set, capsys):
    assert list(problems(photo_set)) == []
    assert main(["verify", "--out", str(photo_set)]) == 0
    assert "every file is what the manifest says" in capsys.readouterr().out


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
def test_a_flipped_bit_is_found_and_its_file_named(copied, name, position):
    flip(copied / name, position)
    (problem,) = problems(copied)
    assert problem.startswith(f"{name}: ")
    assert "content has changed" in problem


def test_a_changed_manifest_is_found(copied):
    text = (copied / "manifest.json").read_text()
    (copied / "manifest.json").write_text(text.replace('"seed": 0', '"seed": 1'))
    (problem,) = problems(copied)
    assert problem.startswith("manifest.json: ")


@pytest.mark.parametrize("name", ["disk_transformed/img00000007.JPEG", "zip/part0.zip"])
def test_a_missing_file_is_named(copied, name):
    (copied / name).unlink()
    assert list(problems(copied)) == [f"{name}: missing"]


def test_a_missing_form_is_named(copied):
    shutil.rmtree(copied / "zip")
    assert list(problems(copied)) == ["zip/part0.zip: missing"]


@pytest.mark.parametrize("name", ["disk_transformed/img99999999.JPEG", "zip/part1.zip", "notes.txt"])
def test_an_extra_file_is_named(copied, name):
    (copied / name).write_bytes(b"")
    assert list(problems(copied)) == [f"{name}: not in the manifest"]


def test_a_shorter_file_is_named_with_both_sizes(copied):
    path = copied / "zip_encoded" / "part0.zip"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1])
    assert list(problems(copied)) == [f"zip_encoded/part0.zip: {size - 1} bytes instead of {size}"]


def test_the_command_fails_and_lists_all_problems(copied, capsys):
    flip(copied / "zip" / "part0.zip", 1000)
    (copied / "disk_transformed" / "img00000001.JPEG").unlink()
    assert main(["verify", "--out", str(copied)]) == 1
    said = capsys.readouterr()
    assert "zip/part0.zip: its content" in said.out
    assert "img00000001.JPEG: missing" in said.out
    assert "2 problems" in said.err


def test_without_a_manifest_the_command_says_so(tmp_path, capsys):
    assert main(["verify", "--out", str(tmp_path)]) == 1
    assert "no manifest.json" in capsys.readouterr().err

import json

import pytest

from data_setup.format.errors import SetupError
from data_setup.format.manifest import FileEntry, check_manifest, manifest_text, read_files, read_header

HEADER = {"images": 2, "parts": {"zip/part0.zip": 7}}
FILES = [
    FileEntry("disk_transformed/a.JPEG", 5, "00" * 32, 'x/"é".JPEG', ["grayscale"]),
    FileEntry("zip/part0.zip", 7, "11" * 32),
]


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_bytes(b"".join(manifest_text(HEADER, FILES)))
    return path


def test_what_was_written_is_read_back(manifest):
    assert read_header(manifest) == {"format": 1} | HEADER
    assert [file._replace(notes=list(file.notes)) for file in read_files(manifest)] == [
        file._replace(notes=list(file.notes)) for file in FILES
    ]
    assert list(check_manifest(manifest)) == []


def test_it_is_plain_json(manifest):
    content = json.loads(manifest.read_text())
    assert content["files"]["zip/part0.zip"] == {"bytes": 7, "sha256": "11" * 32}


def test_every_flipped_bit_is_noticed(manifest):
    whole = manifest.read_bytes()
    for position in range(len(whole)):
        manifest.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert list(check_manifest(manifest))


def test_a_manifest_that_is_cut_off_is_refused(manifest):
    manifest.write_bytes(b"".join(manifest.read_bytes().splitlines(keepends=True)[:6]))
    with pytest.raises(SetupError, match="cut off"):
        list(read_files(manifest))


def test_a_damaged_line_is_shown(manifest):
    manifest.write_text(manifest.read_text().replace('{"bytes": 7', '{"bytes"; 7'))
    with pytest.raises(SetupError, match=r"part0\.zip"):
        list(read_files(manifest))


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 2,\n"files": {'])
def test_something_else_is_no_manifest(manifest, text):
    manifest.write_text(text)
    with pytest.raises(SetupError, match="manifest"):
        read_header(manifest)

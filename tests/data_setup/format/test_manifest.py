import json

import pytest

from data_setup.format.errors import SetupError
from data_setup.format.manifest import (
    FileEntry,
    Header,
    check_manifest,
    manifest_text,
    read_files,
    read_header,
)

HEADER: Header = {
    "identity": {"source": "nobody", "count": 2},
    "images": 2,
    "classes": ["ant", "wolf"],
    "forms": {"zip": {"files": 1, "bytes": 7}},
    "parts": {"zip/part0.zip": 7},
    "oddities": [],
    "versions": {"python": "3"},
}
FILES = [
    FileEntry("disk_transformed/a.JPEG", 5, "00" * 32, 'x/"é".JPEG', ["grayscale"]),
    FileEntry("zip/part0.zip", 7, "11" * 32),
]


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_bytes(b"".join(manifest_text(HEADER, FILES)))
    return path


def test_manifest_is_read_back(manifest):
    assert read_header(manifest) == HEADER
    assert [file._replace(notes=list(file.notes)) for file in read_files(manifest)] == [
        file._replace(notes=list(file.notes)) for file in FILES
    ]
    assert list(check_manifest(manifest)) == []


def test_manifest_is_plain_json(manifest):
    content = json.loads(manifest.read_text())
    assert content["format"] == 1
    assert content["files"]["zip/part0.zip"] == {"bytes": 7, "sha256": "11" * 32}


def test_every_changed_byte_is_detected(manifest):
    whole = manifest.read_bytes()
    for position in range(len(whole)):
        manifest.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert list(check_manifest(manifest))


def test_truncated_manifest_is_refused(manifest):
    lines = manifest.read_bytes().splitlines(keepends=True)
    manifest.write_bytes(b"".join(lines[: lines.index(b'"files": {\n') + 2]))
    with pytest.raises(SetupError, match="truncated"):
        list(read_files(manifest))


def test_damaged_line_is_quoted(manifest):
    manifest.write_text(manifest.read_text().replace('{"bytes": 7', '{"bytes"; 7'))
    with pytest.raises(SetupError, match=r"part0\.zip"):
        list(read_files(manifest))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a manifest"),
        ("{}", "is not a manifest"),
        ("[1]", "is not a manifest"),
        ('{"format": 2,\n"files": {', "manifest format 2; this program reads 1"),
        ('{"format": 1,\n"files": {', "lacks classes, forms"),
    ],
)
def test_other_text_is_not_a_manifest(manifest, text, message):
    manifest.write_text(text)
    with pytest.raises(SetupError, match=message):
        read_header(manifest)

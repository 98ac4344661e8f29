import json
from contextlib import suppress

import pytest

from data_setup.format.errors import SetupError
from data_setup.format.manifest import FileEntry, Header, manifest_text, read_manifest

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
    FileEntry("disk_transformed/a.JPEG", 5, "00" * 32, 'x/"\udcff".JPEG', ["grayscale"]),
    FileEntry("zip/part0.zip", 7, "11" * 32),
]


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_bytes(b"".join(manifest_text(HEADER, FILES)))
    return path


def test_manifest_is_read_back(manifest):
    header, files, is_intact = read_manifest(manifest)
    assert header == HEADER
    assert [file._replace(notes=list(file.notes)) for file in files] == [
        file._replace(notes=list(file.notes)) for file in FILES
    ]
    assert is_intact


def test_manifest_is_plain_json(manifest):
    content = json.loads(manifest.read_text())
    assert content["format"] == 1
    assert content["files"]["zip/part0.zip"] == {"bytes": 7, "sha256": "11" * 32}


def test_every_changed_byte_is_detected(manifest):
    whole = manifest.read_bytes()
    for position in range(len(whole)):
        manifest.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with suppress(SetupError):
            assert not read_manifest(manifest).is_intact


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a manifest"),
        ("{}", "is not a manifest"),
        ("[1]", "is not a manifest"),
        ('{"format": 2, "files": {}}', "manifest format 2; this program reads 1"),
        ('{"format": 1, "files": {}}', "missing required field"),
        ('{"format": 1, "files": {"a": {"bytes": "1", "sha256": ""}}}', "is not a manifest"),
    ],
)
def test_other_text_is_not_a_manifest(manifest, text, message):
    manifest.write_text(text)
    with pytest.raises(SetupError, match=message):
        read_manifest(manifest)


def test_truncated_manifest_is_refused(manifest):
    manifest.write_bytes(manifest.read_bytes()[:-100])
    with pytest.raises(SetupError, match="its content has changed"):
        read_manifest(manifest)

"""An error of a source's disk or server is retried, then stops the command; no other image replaces it."""

import errno
import os

import pytest

from data_setup.cli import main
from data_setup.format.errors import SetupError
from data_setup.sources import file_reader
from data_setup.sources.archives import list_images
from data_setup.sources.file_reader import PAUSES, read_bytes
from tests.data_setup.file_content import files_of
from tests.data_setup.image_collections import as_folder, as_tar, as_zip, ground_truth, name, odd_files

FILES = {"a/1.JPEG": b"one" * 99, "b/2.jpg": b"two" * 99}
TRANSIENT = [errno.EIO, errno.ESTALE, errno.ETIMEDOUT]


@pytest.fixture
def fail(monkeypatch):
    """Let the next readings of a source fail; return the errors that are left."""
    left: list[OSError] = []
    read = file_reader._read

    def flaky(source, location):
        if left:
            raise left.pop()
        return read(source, location)

    def fail(code, times):
        left.extend(OSError(code, os.strerror(code)) for _ in range(times))
        return left

    monkeypatch.setattr(file_reader, "_read", flaky)
    monkeypatch.setattr(file_reader.time, "sleep", lambda seconds: None)
    return fail


@pytest.mark.parametrize("pack", [as_folder, as_tar, as_zip])
@pytest.mark.parametrize("code", TRANSIENT)
def test_error_that_passes_is_retried(tmp_path, fail, pack, code):
    source = pack(tmp_path / "source", FILES)
    listing = list_images(source)
    left = fail(code, len(PAUSES))
    assert read_bytes(source, listing[0]) == FILES["a/1.JPEG"]
    assert not left


@pytest.mark.parametrize("pack", [as_folder, as_tar, as_zip])
@pytest.mark.parametrize(("code", "times"), [(errno.ESTALE, len(PAUSES) + 1), (errno.EACCES, 1)])
def test_error_that_stays_is_raised_and_names_the_file(tmp_path, fail, pack, code, times):
    source = pack(tmp_path / "source", FILES)
    listing = list_images(source)
    left = fail(code, times)
    with pytest.raises(SetupError, match=r"a/1\.JPEG cannot be read"):
        read_bytes(source, listing[0])
    assert not left


@pytest.mark.parametrize("pack", [as_tar, as_zip])
def test_short_reads_are_continued(tmp_path, monkeypatch, pack):
    source = pack(tmp_path / "source", FILES)
    listing, pread = list_images(source), os.pread
    monkeypatch.setattr(os, "pread", lambda handle, size, at: pread(handle, min(size, 7), at))
    assert read_bytes(source, listing[1]) == FILES["b/2.jpg"]


def test_command_stops_at_a_source_that_fails_and_then_makes_the_same_set(tmp_path, fail, capsys):
    tar = as_tar(tmp_path / "images.tar", {name(i): odd_files(12)[name(i)] for i in range(7, 12)})
    truth = ground_truth(tmp_path / "labels.txt", 5)
    command = ["imagenet", str(tar), "--labels", str(truth), "--count", "3", "--workers", "1", "--yes"]
    assert main([*command, "--out", str(tmp_path / "expected")]) == 0
    left = fail(errno.EIO, len(PAUSES) + 1)
    assert main([*command, "--out", str(tmp_path / "set")]) == 1
    assert "Repair the source, then run the same command again to resume" in capsys.readouterr().err
    assert not left
    assert main([*command, "--out", str(tmp_path / "set")]) == 0
    assert files_of(tmp_path / "set") == files_of(tmp_path / "expected")

"""An error of a source's disk or server is retried, then stops the command; no other image replaces it."""

import errno
import os

import pytest

from course_utils.system import transient_errors
from course_utils.system.transient_errors import PAUSES
from data_setup.cli import main
from data_setup.format.errors import SetupError
from data_setup.sources import file_reader, listing
from data_setup.sources.collection_source import CollectionSource
from data_setup.sources.file_reader import read_bytes
from data_setup.sources.listing import list_images
from tests.data_setup.file_content import files_of
from tests.data_setup.image_collections import as_tar, as_zip, ground_truth, name, odd_files

FILES = {"a/1.JPEG": b"one" * 99, "b/2.jpg": b"two" * 99}
TRANSIENT = [errno.EIO, errno.ESTALE, errno.ETIMEDOUT]


def read(source, listed, index):
    return read_bytes(source, listed.files[index], listed.status)


@pytest.fixture
def fail(monkeypatch):
    """Let the next readings of a source fail; return the errors that are left."""
    left: list[OSError] = []
    original = file_reader._read

    def flaky(*args):
        if left:
            raise left.pop()
        return original(*args)

    def fail(code, times):
        left.extend(OSError(code, os.strerror(code)) for _ in range(times))
        return left

    monkeypatch.setattr(file_reader, "_read", flaky)
    monkeypatch.setattr(transient_errors, "PAUSES", (0.0,) * len(PAUSES))
    return fail


@pytest.mark.parametrize("pack", [as_tar, as_zip])
@pytest.mark.parametrize("code", TRANSIENT)
def test_error_that_passes_is_retried(tmp_path, fail, pack, code):
    source = pack(tmp_path / "source", FILES)
    listed = list_images(source)
    left = fail(code, len(PAUSES))
    assert read(source, listed, 0) == FILES["a/1.JPEG"]
    assert not left


@pytest.mark.parametrize("pack", [as_tar, as_zip])
@pytest.mark.parametrize(("code", "times"), [(errno.ESTALE, len(PAUSES) + 1), (errno.EACCES, 1)])
def test_error_that_stays_is_raised_and_names_the_file(tmp_path, fail, pack, code, times):
    source = pack(tmp_path / "source", FILES)
    listed = list_images(source)
    left = fail(code, times)
    with pytest.raises(SetupError, match=r"a/1\.JPEG cannot be read"):
        read(source, listed, 0)
    assert not left


@pytest.mark.parametrize("pack", [as_tar, as_zip])
def test_short_reads_are_continued(tmp_path, monkeypatch, pack):
    source = pack(tmp_path / "source", FILES)
    listed, pread = list_images(source), os.pread
    monkeypatch.setattr(os, "pread", lambda handle, size, at: pread(handle, min(size, 7), at))
    assert read(source, listed, 1) == FILES["b/2.jpg"]


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


def other_pictures(path, pack):
    """The same names and sizes, other content."""
    return pack(path, {file: content.swapcase() for file, content in FILES.items()})


def rewrite(source, pack):
    source.write_bytes(other_pictures(source.with_name("other"), pack).read_bytes())


def replace(source, pack):
    other_pictures(source.with_name("other"), pack).replace(source)


def remove_end(source, pack):
    os.truncate(source, 100)


def extend(source, pack):
    with source.open("ab") as file:
        file.write(bytes(512))


@pytest.mark.parametrize("pack", [as_tar, as_zip])
@pytest.mark.parametrize("change", [rewrite, replace, remove_end, extend])
@pytest.mark.parametrize("opened", [False, True], ids=["before the first read", "after it"])
def test_archive_that_changes_after_it_was_listed_is_refused(tmp_path, pack, change, opened):
    source = pack(tmp_path / "source", FILES)
    os.utime(source, (1, 1))  # so that the times differ however quick this test is
    listed = list_images(source)
    if opened:
        assert read(source, listed, 0) == FILES["a/1.JPEG"]
    change(source, pack)
    with pytest.raises(SetupError, match="source was changed or replaced while it was being read"):
        read(source, listed, 0)


@pytest.mark.parametrize("pack", [as_tar, as_zip])
def test_archive_that_was_replaced_is_refused_after_it_was_stale(tmp_path, fail, pack):
    source = pack(tmp_path / "source", FILES)
    listed = list_images(source)
    assert read(source, listed, 0) == FILES["a/1.JPEG"]
    os.utime(source, (1, 1))
    source.rename(tmp_path / "kept")
    other_pictures(source, pack)
    fail(errno.ESTALE, 1)
    with pytest.raises(SetupError, match="changed or replaced while"):
        read(source, listed, 0)


@pytest.mark.parametrize("pack", [as_tar, as_zip])
def test_archive_that_changes_while_it_is_listed_is_refused(tmp_path, monkeypatch, pack):
    source = pack(tmp_path / "source", FILES)
    os.utime(source, (1, 1))
    entries = listing.entries_of_archive

    def changing(source):
        yield from entries(source)
        rewrite(source, pack)

    monkeypatch.setattr(listing, "entries_of_archive", changing)
    with pytest.raises(SetupError, match="changed or replaced while"):
        list_images(source)


@pytest.mark.parametrize("pack", [as_tar, as_zip])
@pytest.mark.parametrize("workers", [1, 2])
def test_set_of_an_archive_that_is_replaced_after_listing_is_not_made(
    tmp_path, monkeypatch, capsys, pack, workers
):
    files = {name(i): odd_files(20)[name(i)] for i in range(7, 20)}
    source = pack(tmp_path / "images", files)
    os.utime(source, (1, 1))
    truth = ground_truth(tmp_path / "labels.txt", len(files))
    renderer = CollectionSource.renderer

    def replaced(self):
        names = list(files)
        pack(tmp_path / "other", dict(zip(names, [files[n] for n in names[1:] + names[:1]], strict=True)))
        (tmp_path / "other").replace(source)
        return renderer(self)

    monkeypatch.setattr(CollectionSource, "renderer", replaced)
    command = ["imagenet", str(source), "--labels", str(truth), "--yes", "--workers", str(workers)]
    assert main([*command, "--out", str(tmp_path / "set")]) == 1
    assert "was changed or replaced while it was being read" in capsys.readouterr().err
    assert not (tmp_path / "set/manifest.json").exists()


def test_pipe_as_source_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "images.tar")
    with pytest.raises(SetupError, match=r"images\.tar is neither a folder nor a file"):
        list_images(tmp_path / "images.tar")

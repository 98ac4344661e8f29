import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from data_setup.format.errors import SetupError
from data_setup.sources.file_reader import read_bytes
from data_setup.sources.listing import list_images
from tests.data_setup.image_collections import as_folder, as_tar, as_zip

FILES = {"b/2.jpg": b"two", "a/1.JPEG": b"one", "b/é.png": b"three", "labels.txt": b"no image"}
HIDDEN = {"._1.JPEG": b"metadata of macOS", ".cache/4.png": b"cached"}


def read(source, listing, index):
    return read_bytes(source, listing.files[index], listing.status)


def names(source):
    return [file.name for file in list_images(source).files]


def contents(source):
    listing = list_images(source)
    return {file.name: read_bytes(source, file, listing.status) for file in listing.files}


def deflated(path, files):
    return as_zip(path, files, zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("pack", [as_folder, as_tar, as_zip, deflated])
def test_images_are_listed_by_name_and_read_in_any_order(tmp_path, pack):
    source = pack(tmp_path / "source", FILES | HIDDEN)
    listing = list_images(source)
    assert [file.name for file in listing.files] == ["a/1.JPEG", "b/2.jpg", "b/é.png"]
    assert [read(source, listing, i) for i in (2, 0, 1)] == [b"three", b"one", b"two"]


def test_dot_slash_is_removed_from_names_in_a_tar(tmp_path):
    source = as_tar(tmp_path / "source.tar", {f"./{name}": content for name, content in FILES.items()})
    assert names(source)[0] == "a/1.JPEG"


def test_nothing_is_unpacked(tmp_path):
    source = as_tar(tmp_path / "source.tar", FILES)
    listing = list_images(source)
    read(source, listing, 0)
    assert list(tmp_path.iterdir()) == [source]


def test_local_header_of_a_zip_may_have_a_longer_extra_field(tmp_path):
    source = tmp_path / "source.zip"
    with zipfile.ZipFile(source, "w") as archive, archive.open("1.jpg", "w", force_zip64=True) as member:
        member.write(b"one")
    assert read(source, list_images(source), 0) == b"one"


def test_truncated_tar_is_refused(tmp_path):
    source = as_tar(tmp_path / "source.tar", {f"{i}.jpg": b"x" * 5000 for i in range(9)})
    source.write_bytes(source.read_bytes()[:20_000])
    with pytest.raises(SetupError, match="download"):
        list_images(source)


def test_compressed_tar_is_refused_with_advice(tmp_path):
    source = as_tar(tmp_path / "source.tar", FILES)
    packed = tmp_path / "source.tar.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    with pytest.raises(SetupError, match="gunzip"):
        list_images(packed)


@pytest.mark.parametrize("pack", [as_folder, as_tar, as_zip])
def test_files_that_are_no_images_by_their_names_are_counted(tmp_path, pack):
    others = {"readme.txt": b"", "b/1.xml": b"", ".hidden": b"", "b/.DS_Store": b""}
    listing = list_images(pack(tmp_path / "source", FILES | others))
    assert sorted(listing.skipped) == ["b/1.xml", "labels.txt", "readme.txt"]
    assert len(listing.files) == 3


def test_source_without_images_is_refused(tmp_path):
    with pytest.raises(SetupError, match="no image files"):
        list_images(as_folder(tmp_path, {"labels.txt": b""}))


def test_image_that_vanished_stops_the_command(tmp_path):
    source = as_folder(tmp_path / "source", FILES)
    listing = list_images(source)
    (source / "a/1.JPEG").unlink()
    with pytest.raises(SetupError, match=r"a/1.JPEG cannot be read"):
        read(source, listing, 0)


def test_class_folder_that_is_a_link_is_listed(tmp_path):
    source = as_folder(tmp_path / "source", FILES)
    elsewhere = as_folder(tmp_path / "elsewhere", {"3.jpg": b"linked"})
    (source / "c").symlink_to(elsewhere)
    (source / "c" / "loop").symlink_to(source)
    assert names(source) == ["a/1.JPEG", "b/2.jpg", "b/é.png", "c/3.jpg"]


def test_image_that_is_a_broken_link_is_refused(tmp_path):
    source = as_folder(tmp_path / "source", FILES)
    (source / "a" / "9.jpg").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SetupError, match=r"a/9.jpg: a link without a target"):
        list_images(source)


def test_fifo_is_refused(tmp_path):
    source = as_folder(tmp_path / "source", FILES)
    os.mkfifo(source / "9.jpg")
    with pytest.raises(SetupError, match=r"9.jpg: not a regular file"):
        list_images(source)


def test_folder_without_read_permission_is_refused(tmp_path, monkeypatch):
    as_folder(tmp_path / "source", FILES)
    (tmp_path / "source" / "b").chmod(0)
    monkeypatch.chdir(tmp_path)
    user = os.geteuid()
    try:
        if user == 0:
            tmp_path.chmod(0o755)
            os.seteuid(65534)
        with pytest.raises(SetupError, match="source/b cannot be read"):
            list_images(Path("source"))
    finally:
        os.seteuid(user)
        (tmp_path / "source" / "b").chmod(0o755)


def add_member(path, name, **fields):
    with tarfile.open(path, "a") as tar:
        info = tarfile.TarInfo(name)
        for field, value in fields.items():
            setattr(info, field, value)
        tar.addfile(info, io.BytesIO(bytes(info.size)))


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("9.jpg", {"type": tarfile.LNKTYPE, "linkname": "b/2.jpg"}),
        ("c", {"type": tarfile.SYMTYPE, "linkname": "b"}),
        ("9.jpg", {"type": tarfile.FIFOTYPE}),
        ("9.jpg", {"type": tarfile.GNUTYPE_SPARSE}),
    ],
    ids=["link", "folder that is a link", "fifo", "sparse"],
)
def test_tar_member_that_cannot_be_taken_is_refused(tmp_path, name, fields):
    source = as_tar(tmp_path / "source.tar", FILES)
    add_member(source, name, **fields)
    with pytest.raises(SetupError, match=f"1 files that cannot be used: {name}"):
        list_images(source)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("pack", [tarfile.open, zipfile.ZipFile])
def test_names_that_occur_twice_are_refused(tmp_path, pack):
    source, file = tmp_path / "source", tmp_path / "1.jpg"
    file.write_bytes(b"one")
    with pack(source, "w") as archive:
        add = archive.add if pack is tarfile.open else archive.write
        add(file, "1.jpg")
        add(file, "1.jpg")
    with pytest.raises(SetupError, match=r"occur more than once: 1.jpg"):
        list_images(source)


MANY = {f"{i}.jpg": bytes([i]) * 700 for i in range(20)}


@pytest.mark.parametrize("position", range(0, 20 * 1536, 4999))
def test_cut_tar_is_refused(tmp_path, position):
    source = as_tar(tmp_path / "source.tar", MANY)
    source.write_bytes(source.read_bytes()[:position])
    with pytest.raises(SetupError):
        list_images(source)


def test_tar_with_a_damaged_header_is_refused(tmp_path):
    source = as_tar(tmp_path / "source.tar", MANY)
    data = source.read_bytes()
    for number in range(20):
        damaged = bytearray(data)
        damaged[1536 * number + 7 * number] ^= 4
        source.write_bytes(damaged)
        with pytest.raises(SetupError):
            list_images(source)


def test_concatenated_tars_are_refused(tmp_path):
    one, other = as_tar(tmp_path / "1.tar", FILES), as_tar(tmp_path / "2.tar", MANY)
    one.write_bytes(one.read_bytes() + other.read_bytes())
    with pytest.raises(SetupError, match="concatenated"):
        list_images(one)


def test_concatenated_zips_are_refused(tmp_path):
    one, other = as_zip(tmp_path / "1.zip", FILES), as_zip(tmp_path / "2.zip", MANY)
    one.write_bytes(one.read_bytes() + other.read_bytes())
    with pytest.raises(SetupError, match="concatenated"):
        list_images(one)


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, pytest.param(zipfile.ZIP_DEFLATED, marks=pytest.mark.proof)]
)
def test_flipped_zip_raises_or_gives_the_same_bytes(tmp_path, method):
    whole = as_zip(tmp_path / "whole.zip", MANY, method)
    data, expected, raised = whole.read_bytes(), contents(whole), 0
    for number in range(200):
        flipped = bytearray(data)
        flipped[number * len(data) // 200] ^= 1 << number % 8
        source = tmp_path / f"{number}.zip"  # handles are cached by path
        source.write_bytes(flipped)
        try:
            found = contents(source)
        except SetupError:
            raised += 1
        else:
            assert found == expected
    assert raised > 100


def test_directory_entry_that_points_to_its_neighbour_is_refused(tmp_path):
    source = as_zip(tmp_path / "source.zip", MANY)
    with zipfile.ZipFile(source) as archive:
        first, second, *_ = archive.infolist()
    data = source.read_bytes()
    entry = data.index(b"PK\1\2" + data[data.index(b"PK\1\2") + 4 :][:4])
    assert first.header_offset == 0
    source.write_bytes(data[: entry + 42] + second.header_offset.to_bytes(4, "little") + data[entry + 46 :])
    with pytest.raises(SetupError):
        contents(source)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file whose reading fails with EIO")
def test_input_error_stops_the_command(tmp_path):
    source = as_folder(tmp_path / "source", FILES)
    (source / "9.jpg").symlink_to("/proc/self/mem")
    listing = list_images(source)
    with pytest.raises(SetupError, match=r"9.jpg cannot be read \(Input/output error\)"):
        read(source, listing, 0)


def test_tar_that_shrank_after_listing_stops_the_command(tmp_path):
    source = as_tar(tmp_path / "source.tar", MANY)
    listing = list_images(source)
    os.truncate(source, listing.files[3].offset + 10)
    with pytest.raises(SetupError, match="was changed or replaced"):
        read(source, listing, 3)

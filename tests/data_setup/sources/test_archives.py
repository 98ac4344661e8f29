import gzip
import zipfile

import pytest

from data_setup.format.errors import SetupError, UnreadableError
from data_setup.sources.archives import list_images, read_bytes
from tests.data_setup.image_collections import as_folder, as_tar, as_zip

FILES = {"b/2.jpg": b"two", "a/1.JPEG": b"one", "b/é.png": b"three", "labels.txt": b"no image"}
HIDDEN = {"._1.JPEG": b"metadata of macOS", ".cache/4.png": b"cached"}


def deflated(path, files):
    return as_zip(path, files, zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("pack", [as_folder, as_tar, as_zip, deflated])
def test_images_are_listed_by_name_and_read_in_any_order(tmp_path, pack):
    source = pack(tmp_path / "source", FILES | HIDDEN)
    listing = list_images(source)
    assert list(listing.names()) == ["a/1.JPEG", "b/2.jpg", "b/é.png"]
    assert [read_bytes(source, listing[i]) for i in (2, 0, 1)] == [b"three", b"one", b"two"]


def test_dot_slash_is_removed_from_names_in_a_tar(tmp_path):
    source = as_tar(tmp_path / "source.tar", {f"./{name}": content for name, content in FILES.items()})
    assert list_images(source).name(0) == "a/1.JPEG"


def test_nothing_is_unpacked(tmp_path):
    source = as_tar(tmp_path / "source.tar", FILES)
    listing = list_images(source)
    read_bytes(source, listing[0])
    assert list(tmp_path.iterdir()) == [source]


def test_local_header_of_a_zip_may_have_a_longer_extra_field(tmp_path):
    source = tmp_path / "source.zip"
    with zipfile.ZipFile(source, "w") as archive, archive.open("1.jpg", "w", force_zip64=True) as member:
        member.write(b"one")
    assert read_bytes(source, list_images(source)[0]) == b"one"


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


def test_source_without_images_is_refused(tmp_path):
    with pytest.raises(SetupError, match="no image files"):
        list_images(as_folder(tmp_path, {"labels.txt": b""}))


def test_missing_file_is_unreadable(tmp_path):
    source = as_folder(tmp_path / "source", FILES)
    listing = list_images(source)
    (source / "a/1.JPEG").unlink()
    with pytest.raises(UnreadableError):
        read_bytes(source, listing[0])

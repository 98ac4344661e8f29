"""Archives that are damaged, incomplete or unusual: an error that names them, or the right files."""

import bz2
import contextlib
import gzip
import lzma
import os
import shutil
import sys
import tarfile

import pytest

from course_utils.scratch.archives import unpacked_name
from course_utils.scratch.presets import ScratchError
from course_utils.scratch.staging import stage_set
from tests.scratch.files import files_of, tar_of

FILES = {f"folder/{number:02d}.bin": bytes([number + 1]) * 700 for number in range(20)}
HEADER, MEMBER = 512, 512 + 1024
COMPRESSIONS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.fixture
def scratch(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def is_refused(source, scratch) -> bool:
    """Stage a damaged archive; the next call must not take what an earlier one has left for a set."""
    for _ in range(2):
        with contextlib.suppress(ScratchError):
            assert files_of(stage_set(source, scratch, "unpack").path) == FILES
            return False
    assert not list(scratch.glob("staged-*/*/"))
    return True


@pytest.mark.parametrize("damage", ["flip", "zeros", "cut"])
@pytest.mark.parametrize("number", [0, 10, 19])
def test_a_tar_that_tarfile_reads_in_part_is_refused(tmp_path, scratch, damage, number):
    source = tar_of(tmp_path / "set.tar", FILES)
    packed = bytearray(source.read_bytes())
    at = number * MEMBER
    if damage == "flip":
        packed[at + 3] ^= 1
    elif damage == "zeros":
        packed[at : at + HEADER] = bytes(HEADER)
    else:
        del packed[at:]
    source.write_bytes(packed)
    assert is_refused(source, scratch)
    with pytest.raises(ScratchError, match=r"set.tar cannot be unpacked: it is damaged"):
        stage_set(source, scratch, "unpack")


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed_tars_are_unpacked(tmp_path, scratch, kind):
    source = tmp_path / f"set.tar.{kind}"
    source.write_bytes(COMPRESSIONS[kind](tar_of(tmp_path / "set.tar", FILES).read_bytes()))
    staged = stage_set(source, scratch, "unpack")
    assert staged.path.name == "set"
    assert files_of(staged.path) == FILES


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_a_compressed_tar_that_is_cut_or_flipped_anywhere_is_refused(tmp_path, scratch, kind):
    whole = COMPRESSIONS[kind](tar_of(tmp_path / "set.tar", FILES).read_bytes())
    source = tmp_path / f"set.tar.{kind}"
    for turn in range(12):
        source.write_bytes(whole[: turn * len(whole) // 12])
        assert is_refused(source, scratch)
    refused = 0
    for turn in range(30):
        flipped = bytearray(whole)
        flipped[turn * len(whole) // 30] ^= 1 << turn % 8
        source.write_bytes(flipped)
        refused += is_refused(source, scratch)
        shutil.rmtree(scratch)
        scratch.mkdir()
    assert refused > 20


def test_a_compression_that_this_python_does_not_read_is_named(tmp_path, scratch):
    (tmp_path / "set.tar.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    with pytest.raises(ScratchError, match=r"zstd|damaged"):
        stage_set(tmp_path / "set.tar.zst", scratch, "unpack")


def test_a_tar_without_files_is_refused(tmp_path, scratch):
    with pytest.raises(ScratchError, match="no files"):
        stage_set(tar_of(tmp_path / "set.tar", {}), scratch, "unpack")


def test_a_tar_that_holds_a_name_twice_is_refused(tmp_path, scratch):
    source = tar_of(tmp_path / "set.tar", FILES)
    with tarfile.open(source, "a") as tar:
        tar.addfile(tarfile.TarInfo(next(iter(FILES))))
    with pytest.raises(ScratchError, match="twice"):
        stage_set(source, scratch, "unpack")


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_a_member_that_is_no_file_is_refused(tmp_path, scratch, kind):
    source = tar_of(tmp_path / "set.tar", FILES)
    with tarfile.open(source, "a") as tar:
        member = tarfile.TarInfo("pipe")
        member.type, member.linkname = kind, "folder/00.bin"
        tar.addfile(member)
    with pytest.raises(ScratchError, match=r"pipe is (neither|a link)"):
        stage_set(source, scratch, "unpack")


def test_empty_folders_of_a_tar_are_kept(tmp_path, scratch):
    source = tar_of(tmp_path / "set.tar", FILES)
    with tarfile.open(source, "a") as tar:
        member = tarfile.TarInfo("empty/inner")
        member.type = tarfile.DIRTYPE
        tar.addfile(member)
    assert (stage_set(source, scratch, "unpack").path / "empty" / "inner").is_dir()
    assert not stage_set(source, scratch, "unpack").copied


@pytest.mark.skipif(sys.platform != "linux", reason="names may be any bytes on Linux alone")
def test_names_that_are_not_utf_8_are_kept(tmp_path, scratch):
    name = os.fsdecode(b"caf\xe9.bin")
    source = tar_of(tmp_path / os.fsdecode(b"s\xe9t.tar"), {name: b"data"})
    staged = stage_set(source, scratch, "unpack")
    assert staged.path.name == os.fsdecode(b"s\xe9t")
    assert files_of(staged.path) == {name: b"data"}
    assert not stage_set(source, scratch, "unpack", verify=True).copied


@pytest.mark.parametrize(
    ("name", "unpacked"),
    [
        ("set.tar", "set"),
        (".set.tar", ".set"),
        ("set.v2.tar.gz", "set.v2"),
        ("SET.TGZ", "SET"),
        ("set.v2", "set.v2"),
        ("set.squashfs", "set"),
        (".tar", ".tar"),
        ("...tar", "...tar"),
    ],
)
def test_an_unpacked_set_has_the_name_without_the_ending_of_an_archive(tmp_path, name, unpacked):
    assert unpacked_name(tmp_path / name) == unpacked


def test_a_hidden_archive_is_unpacked_below_its_own_name(tmp_path, scratch):
    staged = stage_set(tar_of(tmp_path / ".set.tar", FILES), scratch, "unpack")
    assert files_of(staged.path) == FILES
    assert staged.path.name == ".set"

import errno
import io
import multiprocessing
import os
import pickle
import shutil
import struct
import zipfile
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.data.zips import zip_handle, zip_index
from course_utils.data.zips.directory import LONGEST_TAIL
from course_utils.data.zips.errors import ChangedFileError
from course_utils.data.zips.zip_file import index_path
from course_utils.data.zips.zip_format import CENTRAL, LOCAL_SIGNATURE
from course_utils.data.zips.zip_index import ZipIndex

MEMBERS = {f"img{i:08d}.JPEG": bytes([i]) * (i * 700) for i in range(40)}


def write(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return path


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "part0.zip", MEMBERS)


def members_of(index):
    members = {index.name(i): bytes(index.read(i)) for i in range(len(index))}
    assert [read_into(index, i) for i in range(len(index))] == list(members.values())
    return members


def read_into(index, i, **options):
    array = np.empty(index.table[i]["size"], np.uint8)
    index.read_into(i, array, **options)
    return array.tobytes()


names = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1, max_size=20)


@settings(max_examples=60)
@given(
    members=st.dictionaries(names, st.binary(max_size=300)),
    local=st.binary(max_size=40),
    before=st.binary(max_size=9),
)
def test_reads_the_same_members_as_zipfile(tmp_path_factory, members, local, before):
    path = tmp_path_factory.mktemp("zip") / "a.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        zipped.mkdir("folder")
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.extra = struct.pack("<HH", 0xCAFE, len(local)) + local
            zipped.writestr(info, data)
            info.extra = b""  # so the directory, written when the zip is closed, lacks this field
    path.write_bytes(before + buffer.getvalue())
    index = ZipIndex(path)
    assert members_of(index) == members
    assert [index.name(i) for i in range(len(index))] == sorted(members)
    assert all(index.name(index.find(name)) == name for name in members)


def test_zip64_members_beyond_4_gib(tmp_path):
    path = tmp_path / "big.zip"
    with path.open("wb") as file:
        file.seek(5 << 30)  # a hole, which takes no disk space
        with zipfile.ZipFile(file, "w") as zipped:
            for name, data in MEMBERS.items():
                with zipped.open(name, "w", force_zip64=True) as member:
                    member.write(data)
    index = ZipIndex(path)
    assert index.table["offset"].min() >= 5 << 30
    assert members_of(index) == MEMBERS


def test_names_in_code_page_437(tmp_path):
    path = write(tmp_path / "a.zip", {"Zebra.JPEG": b"1", "B_ume.JPEG": b"2"})
    path.write_bytes(path.read_bytes().replace(b"B_ume", b"B\x84ume"))
    assert ZipIndex(path).read(ZipIndex(path).find("Bäume.JPEG")) == b"2"


def test_directory_is_read_once_when_a_zip_is_opened(tmp_path, monkeypatch):
    path = write(tmp_path / "many.zip", {f"img{i:08d}.JPEG": b"" for i in range(5000)})
    real, found = os.pread, []
    monkeypatch.setattr(os, "pread", lambda *args: found.append(real(*args)) or found[-1])
    index = ZipIndex(path)
    with zipfile.ZipFile(path) as archive:
        directory = path.stat().st_size - archive.start_dir
    assert len(index) == 5000
    assert directory <= sum(map(len, found)) <= directory + LONGEST_TAIL + CENTRAL.size + len(LOCAL_SIGNATURE)


def test_saved_table_replaces_the_scan(path, tmp_path):
    fresh = ZipIndex(path)
    fresh.save(tmp_path / "index.npy")
    assert is_loaded(path, tmp_path / "index.npy")
    assert members_of(ZipIndex(path, tmp_path / "index.npy")) == MEMBERS
    assert [p.name for p in tmp_path.iterdir()].count("index.npy") == 1
    assert len(list(tmp_path.iterdir())) == 2


def test_saved_table_lies_in_a_hidden_file_beside_the_zip_by_default(path):
    ZipIndex(path).save()
    assert {p.name for p in path.parent.iterdir()} == {"part0.zip", ".part0.zip.index.npy"}
    assert is_loaded(path)


def is_loaded(path, saved=None):
    """Whether opening a zip takes its saved table, and no scan."""
    with mock.patch.object(zip_index, "scan", side_effect=NotImplementedError):
        try:
            ZipIndex(path, saved or index_path(path)).close()
        except NotImplementedError:
            return False
    return True


def same_time(path, change):
    """Change a file, and set its modification time back."""
    before = path.stat().st_mtime_ns
    change()
    os.utime(path, ns=(before, before))


def test_saved_table_of_another_zip_is_replaced(path, tmp_path):
    """Also if that zip has the same size and modification time."""
    saved = index_path(path)
    ZipIndex(path).save()
    others = {name: data[::-1] + b"" for name, data in MEMBERS.items()} | {"img00000001.JPEG": b"?" * 700}
    same_time(path, lambda: write(path, others))
    assert not is_loaded(path)
    assert members_of(ZipIndex(path, saved)) == others
    assert is_loaded(path)


def test_saved_table_still_belongs_to_a_copied_zip(path, tmp_path):
    ZipIndex(path).save()
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in (path, index_path(path)):
        shutil.copy(file, copy / file.name)
    assert is_loaded(copy / path.name)
    assert members_of(ZipIndex(copy / path.name, index_path(copy / path.name))) == MEMBERS


@pytest.mark.parametrize("keep", [0, 1, 100, 500, -1])
def test_truncated_saved_table_is_made_anew(path, keep):
    ZipIndex(path).save()
    saved = index_path(path)
    whole = saved.read_bytes()
    saved.write_bytes(whole[:keep])
    assert members_of(ZipIndex(path, saved)) == MEMBERS
    assert saved.read_bytes() == whole


def test_saved_table_is_not_made_unasked(path):
    ZipIndex(path, index_path(path))
    assert not index_path(path).exists()


def test_damaged_saved_table_is_no_obstacle_where_nothing_can_be_written(path, monkeypatch):
    ZipIndex(path).save()
    index_path(path).write_bytes(b"damaged")

    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(zip_index, "write_table", refuse)
    assert members_of(ZipIndex(path, index_path(path))) == MEMBERS


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_concurrent_writers_leave_one_whole_table(path):
    index = ZipIndex(path)
    writers = [
        multiprocessing.get_context("fork").Process(target=lambda: [index.save() for _ in range(20)])
        for _ in range(3)
    ]
    for writer in writers:
        writer.start()
    index.save()
    while any(writer.is_alive() for writer in writers):
        assert is_loaded(path)
    assert [writer.exitcode for writer in writers] == [0] * 3
    assert len(list(path.parent.iterdir())) == 2


def test_pickle_does_not_contain_table(path, tmp_path):
    index = ZipIndex(path)
    index.save(tmp_path / "index.npy")
    assert len(pickle.dumps(index)) < 1000
    assert members_of(pickle.loads(pickle.dumps(index))) == MEMBERS


def _read_all(index, rounds):
    assert all(members_of(index) == MEMBERS for _ in range(rounds))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_forked_readers_do_not_interfere(path):
    index = ZipIndex(path)
    children = [
        multiprocessing.get_context("fork").Process(target=_read_all, args=(index, 50)) for _ in range(4)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 4


def test_compressed_member_is_rejected(tmp_path):
    with pytest.raises(ValueError, match=r"img00000001\.JPEG.* is compressed; pack it stored"):
        ZipIndex(write(tmp_path / "a.zip", {"img00000001.JPEG": b"1"}, compression=zipfile.ZIP_DEFLATED))


def test_encrypted_member_is_rejected(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\1\2") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="is encrypted"):
        ZipIndex(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_name_is_rejected(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        zipped.writestr("a", b"1")
        zipped.writestr("a", b"2")
    with pytest.raises(ValueError, match="same name"):
        ZipIndex(tmp_path / "a.zip")


@pytest.mark.parametrize("keep", [1, 100, -1, -30, -2000])
def test_truncated_zip_is_rejected(path, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(zipfile.BadZipFile, match=r"part0\.zip"):
        ZipIndex(path)


def test_damaged_directory_record_is_rejected(path):
    data = path.read_bytes()
    path.write_bytes(data.replace(b"PK\1\2", b"PK\1\3", 3).replace(b"PK\1\3", b"PK\1\2", 2))
    with pytest.raises(zipfile.BadZipFile, match="directory is damaged"):
        ZipIndex(path)


def test_checksum_detects_damaged_data(path):
    with path.open("r+b") as file:
        file.seek(ZipIndex(path).table[20]["offset"] + 5000)
        file.write(b"?")
    index = ZipIndex(path)
    with pytest.raises(zipfile.BadZipFile, match=r"img00000020\.JPEG: it is damaged"):
        index.read(20)
    with pytest.raises(zipfile.BadZipFile, match=r"img00000020\.JPEG: it is damaged"):
        read_into(index, 20)
    assert read_into(index, 20, check=False) == index.read(20, check=False)
    assert index.read(21) == MEMBERS["img00000021.JPEG"]


def test_zip_truncated_while_open_is_detected(path):
    index = ZipIndex(path)
    os.truncate(path, index.table[20]["offset"] + 10)
    for i in (20, 21):
        with pytest.raises(ChangedFileError, match=r"part0\.zip: the file was changed"):
            index.read(i, check=False)
        with pytest.raises(ChangedFileError, match=r"part0\.zip: the file was changed"):
            read_into(index, i, check=False)


def test_array_of_another_size_is_refused(path):
    with pytest.raises(ValueError, match="700 bytes, but 699 are expected"):
        ZipIndex(path).read_into(1, np.empty(699, np.uint8))


def test_reads_into_an_array_where_the_system_lacks_preadv(path, monkeypatch):
    monkeypatch.setattr(zip_handle, "_read_vector", zip_handle._read_in_turn)
    assert members_of(ZipIndex(path)) == MEMBERS


def test_data_may_be_followed_by_something_else(tmp_path):
    """As by a data descriptor, which a zip that was written to a pipe has."""
    with (tmp_path / "a.zip").open("wb") as file:
        pipe = io.BufferedWriter(Unseekable(file))
        with zipfile.ZipFile(pipe, "w") as zipped:
            zipped.writestr("a", b"1" * 99)
            zipped.writestr("b", b"2" * 99)
        pipe.flush()
    assert members_of(ZipIndex(tmp_path / "a.zip")) == {"a": b"1" * 99, "b": b"2" * 99}


class Unseekable(io.RawIOBase):
    """Passes on what is written."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


def test_missing_name_and_position_raise(path):
    with pytest.raises(KeyError, match="no member 'nothing'"):
        ZipIndex(path).find("nothing")
    with pytest.raises(IndexError):
        ZipIndex(path).read(40)


def test_empty_zip(tmp_path):
    assert len(ZipIndex(write(tmp_path / "a.zip", {}))) == 0


def test_close_closes_descriptor(path):
    index = ZipIndex(path)
    index.close()
    with pytest.raises(OSError, match="descriptor"):
        index.read(0)

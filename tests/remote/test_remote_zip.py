"""The index of lesson 02 reads a zip by ranges; a body with other bytes is found by its CRC."""

import pickle
import zipfile

import numpy as np
import pytest

from course_utils.data import ZipIndex
from course_utils.remote import CachedReader, Fault, ObjectServer, RangeReader, RemoteZip
from course_utils.remote.remote_zip import TAIL

NAMES = [f"img{k:05d}.JPEG" for k in range(50)]
MEMBERS = {name: np.random.default_rng(k).bytes(1000 + 37 * k) for k, name in enumerate(NAMES)}


def write_zip(path, compression=zipfile.ZIP_STORED, count=50, comment=b""):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.comment = comment
        for name in NAMES[:count]:
            archive.writestr(name, MEMBERS[name])
    return path


@pytest.fixture
def zipped(folder):
    return write_zip(folder / "pack.zip", comment=b"a comment")


def open_remote(server, **options):
    return RemoteZip(RangeReader(server.url("pack.zip"), **{"threads": 4, "pause_s": 0.001, **options}))


def test_remote_index_is_that_of_the_file(zipped, server):
    archive, local = open_remote(server), ZipIndex(zipped)
    assert np.array_equal(archive.table, local.table)
    assert len(archive) == 50
    assert [archive.name(k) for k in range(50)] == NAMES
    assert archive.find(NAMES[7]) == local.find(NAMES[7]) == 7
    assert [bytes(archive.read(k)) for k in range(50)] == list(MEMBERS.values())
    with pytest.raises(KeyError, match=r"pack\.zip has no member 'none'"):
        archive.find("none")


def test_requests_of_an_index(zipped, server):
    archive = open_remote(server)
    assert server.reset().count == 2  # its size; its end, in which this small one lies as a whole
    archive.read_many([3, 1, 49])
    assert server.reset().count == 3
    archive.read_many(range(50), gap=0)
    assert server.reset().count == 1
    copy = pickle.loads(pickle.dumps(archive))
    assert server.reset().count == 0
    assert bytes(copy.read(5)) == MEMBERS[NAMES[5]]


def test_directory_before_the_tail_is_fetched(folder, server):
    with zipfile.ZipFile(folder / "pack.zip", "w") as archive:
        for k in range(4000):
            archive.writestr(f"{k:05d}{'x' * 60}", b"!" * 100)
    assert (folder / "pack.zip").stat().st_size > 2 * TAIL
    archive = open_remote(server)
    assert (len(archive), bytes(archive.read(3999))) == (4000, b"!" * 100)
    assert server.record().count <= 6


def test_a_body_with_other_bytes_is_asked_for_again(zipped, folder):
    with ObjectServer(folder, delay_ms=0, faults=[Fault("other_bytes", every=3)]) as server:
        archive = open_remote(server, threads=1)
        server.reset()
        found = archive.read_many(range(50))
        count = server.record().count
    assert [bytes(one) for one in found] == list(MEMBERS.values())
    assert 50 < count < 100


def test_a_cache_keeps_no_damaged_body(zipped, folder, tmp_path):
    # Two pieces, of which the second one holds the directory: the first one arrives damaged.
    with ObjectServer(folder, delay_ms=0, faults=[Fault("other_bytes", every=2)]) as server:
        reader = CachedReader(RangeReader(server.url("pack.zip")), tmp_path / "scratch", 1 << 16)
        archive = RemoteZip(reader)
        expected = list(MEMBERS.values())
        for _ in range(3):
            assert [bytes(archive.read(k)) for k in range(50)] == expected
        assert server.reset().count > 3
        assert [bytes(archive.read(k)) for k in range(50)] == expected
        assert server.record().count == 0


def test_an_object_that_is_damaged_is_named(zipped, server):
    archive = open_remote(server)
    row = archive.table[4]
    data = bytearray(zipped.read_bytes())
    data[int(row["offset"] + row["span"]) - 1] ^= 1
    zipped.write_bytes(data)
    archive = open_remote(server)
    with pytest.raises(zipfile.BadZipFile, match=r"img00004\.JPEG has other bytes .* copy the object anew"):
        archive.read(4)
    assert bytes(archive.read(5)) == MEMBERS[NAMES[5]]


def test_what_is_no_stored_zip_is_named(folder, server):
    (folder / "pack.zip").write_bytes(b"PK" * 1000)
    with pytest.raises(zipfile.BadZipFile, match=r"pack\.zip is not a complete zip file"):
        open_remote(server)
    write_zip(folder / "pack.zip", zipfile.ZIP_DEFLATED)
    with pytest.raises(ValueError, match="pack it stored"):
        open_remote(server)
    with pytest.raises(FileNotFoundError):
        RemoteZip(RangeReader(server.url("none.zip")))

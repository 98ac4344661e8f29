import zipfile
import zlib

import pytest

from course_utils.data.zips import large_zip
from course_utils.data.zips.large_zip import write_many_members
from course_utils.data.zips.zip_format import Member, central_directory, local_header, member_span
from course_utils.data.zips.zip_index import ZipIndex


def test_zipfile_and_zip_index_read_the_same_members(tmp_path):
    write_many_members(tmp_path / "many.zip", 70_000)  # needs zip64: more than 16 bits can count
    index = ZipIndex(tmp_path / "many.zip")
    with zipfile.ZipFile(tmp_path / "many.zip") as archive:
        assert len(archive.namelist()) == len(index) == 70_000
        for i in (0, 1, 69_999):
            assert bytes(index.read(i)) == archive.read(index.name(i)) == index.name(i).encode()


@pytest.mark.parametrize("count", [0, 1, 7, 8, 300])
def test_bytes_are_those_of_records_written_one_by_one(tmp_path, monkeypatch, count):
    monkeypatch.setattr(large_zip, "CHUNK", 7)
    write_many_members(tmp_path / "many.zip", count)
    names = [f"{i:010d}.item" for i in range(count)]
    span = member_span("0123456789.item", 15)
    members = [Member(name, 15, zlib.crc32(name.encode()), i * span) for i, name in enumerate(names)]
    expected = b"".join(local_header(m.name, m.size, m.crc) + m.name.encode() for m in members)
    expected += b"".join(central_directory(members, len(expected)))
    assert (tmp_path / "many.zip").read_bytes() == expected


def test_too_many_members_are_refused(tmp_path):
    with pytest.raises(ValueError, match="are more than"):
        write_many_members(tmp_path / "many.zip", 1 << 27)

import io
import zipfile
import zlib

import pytest

from course_utils.data.zips.zip_format import Member, central_directory, local_header, member_span


def archive(contents):
    data, members = b"", []
    for name, content in contents.items():
        members.append(Member(name, len(content), zlib.crc32(content), len(data)))
        data += local_header(name, len(content), zlib.crc32(content)) + content
    return data + b"".join(central_directory(members, len(data)))


@pytest.mark.parametrize("contents", [{}, {"a.raw": b""}, {"a.raw": b"one", "dataset.json": b"{}" * 999}])
def test_zipfile_reads_archive(contents):
    with zipfile.ZipFile(io.BytesIO(archive(contents))) as pack:
        assert pack.testzip() is None
        assert {name: pack.read(name) for name in pack.namelist()} == contents
        assert all(m.compress_type == zipfile.ZIP_STORED for m in pack.infolist())


def test_span_is_size_of_header_and_data():
    assert member_span("a.raw", 5) == len(local_header("a.raw", 5, 0)) + 5


@pytest.mark.parametrize("offset", [2**32 - 2, 2**32 - 1, 2**32, 2**40])
def test_offset_beyond_32_bits_uses_zip64(offset):
    class Far(io.BytesIO):
        """A file that starts with a hole."""

        def seek(self, position, whence=0):
            return super().seek(position if whence else position - hole, whence) + hole

        def tell(self):
            return super().tell() + hole

    hole = offset
    content = local_header("a.raw", 3, zlib.crc32(b"one")) + b"one"
    tail = b"".join(
        central_directory([Member("a.raw", 3, zlib.crc32(b"one"), offset)], offset + len(content))
    )
    with zipfile.ZipFile(Far(content + tail)) as pack:
        assert pack.getinfo("a.raw").header_offset == offset
        assert pack.read("a.raw") == b"one"

"""The directory of a zip is found whatever its comment, its members and the bytes before it hold."""

import io
import zipfile
from contextlib import suppress
from zipfile import BadZipFile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.data.zips import zip_format
from course_utils.data.zips.zip_index import ZipIndex

MEMBERS = {f"img{i}.JPEG": bytes([i]) * i * 9 for i in range(4)}


def zipped(members, comment=b"", zip64=False):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            with archive.open(name, "w", force_zip64=zip64) as member:
                member.write(data)
        archive.comment = comment
    content = buffer.getvalue()
    return with_end64(content, comment) if zip64 else content


def with_end64(content, comment):
    """Add the end records of 64 bits, which `zipfile` writes only where they are needed."""
    at = len(content) - len(comment) - zip_format.END.size
    signature, *_, count, size, start, length = zip_format.END.unpack_from(content, at)
    big = zip_format.END64.pack(zip_format.END64_SIGNATURE, 44, 45, 45, 0, 0, count, count, size, start)
    locator = zip_format.LOCATOR64.pack(zip_format.LOCATOR64_SIGNATURE, 0, at, 1)
    end = zip_format.END.pack(signature, 0, 0, 0xFFFF, 0xFFFF, zip_format.MAX32, zip_format.MAX32, length)
    return content[:at] + big + locator + end + comment


class AmbiguousZipError(Exception):
    """The zip was refused because its comment holds the end of another zip."""


def members_of(path):
    try:
        index = ZipIndex(path)
    except BadZipFile as error:
        if "looks like the end of another zip" in str(error):
            raise AmbiguousZipError from error
        raise
    try:
        return {index.name(i): bytes(index.read(i)) for i in range(len(index))}
    finally:
        index.close()


names = st.sampled_from(["img0.JPEG", "img1.JPEG", "a", "b"])
small_members = st.dictionaries(names, st.binary(max_size=20), max_size=3)
small_zips = st.builds(zipped, small_members, st.binary(max_size=5), st.booleans())
numbers = st.integers(0, 200) | st.just(0xFFFF)
end_records = st.builds(
    lambda *fields: zip_format.END.pack(zip_format.END_SIGNATURE, *fields),
    *(st.sampled_from([0, 0, 0, 1]), st.just(0), numbers, numbers, numbers, numbers, numbers),
)
signatures = st.sampled_from([b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\6", b"PK\6\7"])
pieces = small_zips | end_records | signatures | st.binary(max_size=30)
misleading = st.lists(pieces, max_size=3).map(b"".join)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("zip") / "a.zip"


@settings(max_examples=80)
@given(before=misleading, members=st.dictionaries(names, misleading), comment=misleading, zip64=st.booleans())
def test_members_are_those_that_were_packed(path, before, members, comment, zip64):
    """Or the zip is refused, where its comment is made to look like the end of it."""
    path.write_bytes(before + zipped(members, comment, zip64))
    with suppress(AmbiguousZipError):
        assert members_of(path) == members


@settings(max_examples=60)
@given(inner=small_zips, comment=small_zips, zip64=st.booleans())
def test_zips_as_comment_and_as_member_are_no_obstacle(path, inner, comment, zip64):
    members = MEMBERS | {"inner.zip": inner}
    path.write_bytes(zipped(members, comment, zip64))
    assert members_of(path) == members


def test_longest_comment(path):
    path.write_bytes(zipped(MEMBERS, b"PK\5\6" * (0xFFFF // 4), zip64=True))
    assert members_of(path) == MEMBERS


def test_member_whose_zip_claims_the_rest_of_the_file_as_its_comment(path):
    """The inner zip is complete with that comment, but begins later."""
    inner = zipped({"wrong": b""})
    around = zipped(MEMBERS | {"z": inner})
    rest = len(around) - around.index(inner) - len(inner)
    claimed = inner[:-2] + rest.to_bytes(2, "little")
    path.write_bytes(zipped(MEMBERS | {"z": claimed}))
    assert members_of(path) == MEMBERS | {"z": claimed}


def test_comment_with_a_directory_at_its_true_offset_is_refused(path):
    """Nothing in the file tells which of the two directories is meant."""
    zip_without = zipped(MEMBERS)
    start = len(zip_without)
    record = b"".join(zip_format.central_directory([zip_format.Member("wrong", 0, 0, 0)], start))
    path.write_bytes(zipped(MEMBERS, record))
    with pytest.raises(BadZipFile, match="looks like the end of another zip"):
        ZipIndex(path)


@pytest.mark.parametrize("behind", [b"x", b"\0" * 100])
def test_bytes_behind_the_zip_are_an_error(path, behind):
    path.write_bytes(zipped(MEMBERS, b"comment") + behind)
    with pytest.raises(BadZipFile, match="no directory"):
        ZipIndex(path)


def test_missing_entry_is_an_error(path):
    content = zipped(MEMBERS)
    at = content.rindex(b"PK\5\6")
    fewer = content[: at + 8] + (3).to_bytes(2, "little") * 2 + content[at + 12 :]
    path.write_bytes(fewer)
    with pytest.raises(BadZipFile, match="4 of 3 entries"):
        ZipIndex(path)

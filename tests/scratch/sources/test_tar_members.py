"""Damage in a tar is an error of the strict reader, or changes nothing."""

import io
import tarfile

import pytest

from course_utils.data import open_tar

FILES = {f"folder/{number:02d}.bin": bytes([number + 1]) * 700 for number in range(20)}
LONG = {f"{'long' * 40}/{number}.bin": bytes([number + 1]) * 100 for number in range(4)}
BLOCK = tarfile.BLOCKSIZE


def tar_of(files: dict[str, bytes], **options) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", **options) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


def read(packed: bytes, mode: str) -> dict[str, bytes]:
    with open_tar(io.BytesIO(packed), mode) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}


def is_error(packed: bytes, mode: str, expected: dict[str, bytes]) -> bool:
    """Read a damaged tar; it must raise the one error, or give all files."""
    try:
        assert read(packed, mode) == expected
    except tarfile.TarError:
        return True
    return False


def headers(packed: bytes) -> list[int]:
    """Return the offsets of all headers, those of long names included, and of the end."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        return [offset for member in tar for offset in (member.offset, member.offset_data - BLOCK)] + [
            tar.offset
        ]


def flipped(packed: bytes, bit: int) -> bytes:
    return packed[: bit // 8] + bytes([packed[bit // 8] ^ 1 << bit % 8]) + packed[bit // 8 + 1 :]


@pytest.mark.parametrize("mode", ["r:", "r|"])
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_whole_tar_is_read(mode, form):
    assert read(tar_of(FILES, format=form), mode) == FILES
    if form != tarfile.USTAR_FORMAT:
        assert read(tar_of(LONG, format=form), mode) == LONG


@pytest.mark.parametrize("mode", ["r:", "r|"])
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("stride", [11, pytest.param(1, marks=pytest.mark.proof)])
def test_no_flipped_bit_of_a_header_or_of_the_end_loses_a_file(mode, form, stride):
    files = dict(list(FILES.items())[:2])
    if form != tarfile.USTAR_FORMAT:
        files |= dict(list(LONG.items())[:1])
    packed = tar_of(files, format=form)
    places = range(0, 8 * BLOCK, stride)
    bits = [8 * offset + bit for offset in sorted({*headers(packed)}) for bit in places]
    errors = sum(is_error(flipped(packed, bit), mode, files) for bit in bits)
    assert errors > 0.95 * len(bits)


@pytest.mark.parametrize("mode", ["r:", "r|"])
@pytest.mark.parametrize("files", [FILES, LONG])
def test_a_cut_at_any_block_is_an_error(mode, files):
    packed = tar_of(files)
    end = headers(packed)[-1]
    for size in range(0, end + 2 * BLOCK, BLOCK):
        assert is_error(packed[:size], mode, files), size
        assert is_error(packed[: size + 100], mode, files), size
    assert not is_error(packed[: end + 2 * BLOCK], mode, files)


@pytest.mark.parametrize("mode", ["r:", "r|"])
def test_zeros_in_place_of_a_header_or_of_all_that_follows_are_an_error(mode):
    packed = tar_of(FILES)
    offsets = sorted({*headers(packed)})
    for offset in offsets[:-1]:
        assert is_error(packed[:offset] + bytes(BLOCK) + packed[offset + BLOCK :], mode, FILES)
    for offset in offsets[:10]:
        assert is_error(packed[:offset] + bytes(len(packed) - offset), mode, FILES)


@pytest.mark.parametrize("record", [BLOCK, 1 << 16, 1 << 20])
def test_the_last_record_may_have_another_size(record):
    packed = tar_of(FILES)
    end = headers(packed)[-1] + 2 * BLOCK
    assert read(packed[:end] + bytes(-end % record), "r|") == FILES


def test_tars_that_were_concatenated_are_an_error():
    assert is_error(tar_of(FILES) + tar_of(LONG), "r:", FILES)

import errno
import fcntl
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from course_utils.storage import page_cache
from data_setup.create.direct_writer import BLOCK, DIRECT, STEP, DirectWriter

needs_direct = pytest.mark.skipif(not DIRECT, reason="this system has no O_DIRECT")


def open_writer(path: Path, end: int) -> tuple[DirectWriter, bytes]:
    """A writer at offset `end` of a longer file, and the part of the file that it keeps."""
    content = random.Random(end).randbytes(end + 3 * BLOCK)
    path.write_bytes(content)
    return DirectWriter(path, end), content[:end]


def append_pieces(path: Path, end: int, sizes: list[int]) -> tuple[bytes, bytes]:
    """The content of a file after pieces of these sizes were appended, and the expected content."""
    writer, expected = open_writer(path, end)
    for number, size in enumerate(sizes):
        piece = bytearray(random.Random(number).randbytes(size))
        writer.append(piece)
        expected += piece
        piece[:] = bytes(size)  # the caller may reuse the memory
    writer.finish()
    writer.close()
    return path.read_bytes(), expected


ENDS = [0, 1, BLOCK, BLOCK + 17, 3 * BLOCK - 1]
SIZES = [[], [1], [BLOCK], [STEP], [STEP - 1, 2], [100, 3 * STEP, 5], [200_000] * 20]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_appended_bytes_follow_the_kept_part(tmp_path: Path, end: int, sizes: list[int]):
    found, expected = append_pieces(tmp_path / "growing", end, sizes)
    assert found == expected


def test_hole_before_the_end_is_kept(tmp_path: Path):
    path = tmp_path / "growing"
    path.touch()
    writer = DirectWriter(path, BLOCK + 5)
    writer.append(b"behind")
    writer.finish()
    writer.close()
    assert path.read_bytes() == bytes(BLOCK + 5) + b"behind"


@needs_direct
def test_only_the_last_blocks_enter_the_page_cache(tmp_path: Path):
    path = tmp_path / "growing"
    if reason := page_cache.why_not_measurable(tmp_path):
        pytest.skip(f"the page cache is not measurable here: {reason}")
    path.touch()
    content = bytes(3 * STEP + 5)
    writer = DirectWriter(path, 0)
    writer.append(content)
    writer.finish()
    writer.close()
    (tmp_path / "cached").write_bytes(content)
    assert page_cache.resident(tmp_path / "cached").resident_bytes >= len(content)
    assert page_cache.resident(path).resident_bytes <= 2 * BLOCK


Refuses = Callable[[tuple], bool]


def refuse_direct(monkeypatch: pytest.MonkeyPatch, name: str, refuses: Refuses) -> list[tuple]:
    """Raise EINVAL, as a filesystem without direct I/O does; returns the calls that were refused."""
    real, refused = getattr(os, name), []

    def call(*arguments: object) -> int:
        if refuses(arguments):
            refused.append(arguments)
            raise OSError(errno.EINVAL, "Invalid argument")
        return real(*arguments)

    monkeypatch.setattr(os, name, call)
    return refused


@needs_direct
def test_writes_through_the_cache_if_open_refuses_direct_io(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refused = refuse_direct(monkeypatch, "open", lambda arguments: arguments[1] & DIRECT)
    found, expected = append_pieces(tmp_path / "growing", BLOCK + 1, [100, 3 * STEP])
    assert found == expected
    assert refused


@needs_direct
def test_writes_through_the_cache_if_writes_refuse_direct_io(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    refused = refuse_direct(
        monkeypatch, "pwrite", lambda arguments: fcntl.fcntl(arguments[0], fcntl.F_GETFL) & DIRECT
    )
    found, expected = append_pieces(tmp_path / "growing", BLOCK + 1, [100, 3 * STEP])
    assert found == expected
    assert len(refused) == 1


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = os.pwrite
    monkeypatch.setattr(
        os, "pwrite", lambda handle, data, offset: real(handle, data[: max(1, len(data) // 3)], offset)
    )
    found, expected = append_pieces(tmp_path / "growing", 5, [3 * STEP + 7])
    assert found == expected


def append_more(writer: DirectWriter) -> None:
    for _ in range(3):
        writer.append(bytes(STEP))


def test_late_error_is_raised_by_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(handle: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "fsync", refuse)
    writer, _ = open_writer(tmp_path / "growing", 0)
    with pytest.raises(OSError, match="quota"):
        writer.finish()
    writer.close()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EINVAL], ids=["disk full", "persistent EINVAL"])
@pytest.mark.parametrize("later", [append_more, DirectWriter.finish], ids=["append", "finish"])
def test_write_error_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: Callable[[DirectWriter], None], code: int
):
    def refuse(handle: int, data: memoryview, offset: int) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "pwrite", refuse)
    writer, _ = open_writer(tmp_path / "growing", 0)
    writer.append(bytes(STEP))
    with pytest.raises(OSError, match=os.strerror(code)):
        later(writer)
    writer.close()

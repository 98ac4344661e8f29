import errno
import fcntl
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from course_utils.storage import page_cache
from data_setup.create.direct_writer import BLOCK, DIRECT, STEP, Appender

needs_direct = pytest.mark.skipif(not DIRECT, reason="this system has no O_DIRECT")


def begun(path: Path, end: int) -> tuple[Appender, bytes]:
    """A file that goes on beyond `end`, an appender there, and what stays of the file."""
    content = random.Random(end).randbytes(end + 3 * BLOCK)
    path.write_bytes(content)
    return Appender(path, end), content[:end]


def written(path: Path, end: int, sizes: list[int]) -> tuple[bytes, bytes]:
    """What stands in a file when pieces of these sizes were appended, and what should."""
    appender, expected = begun(path, end)
    for number, size in enumerate(sizes):
        piece = bytearray(random.Random(number).randbytes(size))
        appender.append(piece)
        expected += piece
        piece[:] = bytes(size)  # the memory is used again
    appender.finish()
    appender.close()
    return path.read_bytes(), expected


ENDS = [0, 1, BLOCK, BLOCK + 17, 3 * BLOCK - 1]
SIZES = [[], [1], [BLOCK], [STEP], [STEP - 1, 2], [100, 3 * STEP, 5], [200_000] * 20]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_what_was_appended_stands_behind_what_was_there(tmp_path: Path, end: int, sizes: list[int]):
    found, expected = written(tmp_path / "growing", end, sizes)
    assert found == expected


def test_a_hole_before_the_end_stays_a_hole(tmp_path: Path):
    path = tmp_path / "growing"
    path.touch()
    appender = Appender(path, BLOCK + 5)
    appender.append(b"behind")
    appender.finish()
    appender.close()
    assert path.read_bytes() == bytes(BLOCK + 5) + b"behind"


@needs_direct
def test_nothing_but_the_last_blocks_is_in_the_page_cache(tmp_path: Path):
    path = tmp_path / "growing"
    if reason := page_cache.why_not_measurable(tmp_path):
        pytest.skip(f"the page cache is not measurable here: {reason}")
    path.touch()
    appender = Appender(path, 0)
    appender.append(bytes(3 * STEP + 5))
    appender.finish()
    appender.close()
    assert page_cache.resident(path).resident_bytes <= 2 * BLOCK


Refuses = Callable[[tuple], bool]


def refuse_direct(monkeypatch: pytest.MonkeyPatch, name: str, refuses: Refuses) -> list[tuple]:
    """A filesystem that knows no direct access says EINVAL; returns the calls that got this answer."""
    real, refused = getattr(os, name), []

    def call(*arguments: object) -> int:
        if refuses(arguments):
            refused.append(arguments)
            raise OSError(errno.EINVAL, "Invalid argument")
        return real(*arguments)

    monkeypatch.setattr(os, name, call)
    return refused


@needs_direct
def test_a_filesystem_that_opens_nothing_directly_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    refused = refuse_direct(monkeypatch, "open", lambda arguments: arguments[1] & DIRECT)
    found, expected = written(tmp_path / "growing", BLOCK + 1, [100, 3 * STEP])
    assert found == expected
    assert refused


@needs_direct
def test_a_filesystem_that_writes_nothing_directly_is_written_to_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    refused = refuse_direct(
        monkeypatch, "pwrite", lambda arguments: fcntl.fcntl(arguments[0], fcntl.F_GETFL) & DIRECT
    )
    found, expected = written(tmp_path / "growing", BLOCK + 1, [100, 3 * STEP])
    assert found == expected
    assert len(refused) == 1


def test_a_system_that_takes_less_at_once_gets_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    real = os.pwrite
    monkeypatch.setattr(
        os, "pwrite", lambda handle, data, offset: real(handle, data[: max(1, len(data) // 3)], offset)
    )
    found, expected = written(tmp_path / "growing", 5, [3 * STEP + 7])
    assert found == expected


def append_more(appender: Appender) -> None:
    for _ in range(3):
        appender.append(bytes(STEP))


def test_what_is_refused_late_is_raised_before_the_file_counts_as_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(handle: int) -> None:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "fsync", refuse)
    appender, _ = begun(tmp_path / "growing", 0)
    with pytest.raises(OSError, match="quota"):
        appender.finish()
    appender.close()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EINVAL], ids=["full", "no reason that goes away"])
@pytest.mark.parametrize("later", [append_more, Appender.finish], ids=["by the next step", "at the end"])
def test_what_the_disk_refuses_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: Callable[[Appender], None], code: int
):
    def refuse(handle: int, data: memoryview, offset: int) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "pwrite", refuse)
    appender, _ = begun(tmp_path / "growing", 0)
    appender.append(bytes(STEP))
    with pytest.raises(OSError, match=os.strerror(code)):
        later(appender)
    appender.close()

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from course_utils import page_cache
from data_setup.write_behind import STEP, WriteBehind

needs_advice = pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system has no posix_fadvise")


@needs_advice
def test_what_was_passed_leaves_the_page_cache_and_the_rest_stays(tmp_path: Path):
    path = tmp_path / "growing"
    if reason := page_cache.why_not_measurable(tmp_path):
        pytest.skip(f"the page cache is not measurable here: {reason}")
    with path.open("wb", buffering=0) as file:
        behind = WriteBehind(file)
        for _ in range(3 * STEP >> 20):
            file.write(bytes(1 << 20))
        behind.reach(2 * STEP)
        behind.close()
    assert page_cache.resident(path).resident_bytes == STEP


@needs_advice
def test_few_bytes_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    with (tmp_path / "growing").open("wb", buffering=0) as file:
        behind = WriteBehind(file)
        behind.reach(STEP - 1)
        behind.close()
        assert synced == []


def _go_on(behind: WriteBehind) -> None:
    for end in range(2 * STEP, 1 << 40, STEP):
        behind.reach(end)


@needs_advice
@pytest.mark.parametrize("later", [_go_on, WriteBehind.settle], ids=["by the next step", "at the end"])
def test_what_the_disk_refuses_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: Callable[[WriteBehind], None]
):
    def refuse(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdatasync", refuse)
    with (tmp_path / "growing").open("wb", buffering=0) as file:
        behind = WriteBehind(file)
        behind.reach(STEP)
        with pytest.raises(OSError, match="No space left"):
            later(behind)
        behind.close()

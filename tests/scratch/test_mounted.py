import subprocess

import pytest

from course_utils.scratch import mounted
from course_utils.scratch.mounted import RECORDED_MOUNT, count_mounted, why_not_mountable

COUNT, SIZE = 30, 5000
needs_mount = pytest.mark.skipif(bool(why_not_mountable()), reason=why_not_mountable())


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "scratch").mkdir()
    for number in range(COUNT):
        (tmp_path / "tree" / str(number % 3)).mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / str(number % 3) / f"{number}.bin").write_bytes(bytes([number + 1]) * SIZE)
    return tmp_path / "tree"


def read_all(place):
    return {path.name: path.read_bytes() for path in place.rglob("*.bin")}


@needs_mount
def test_a_mount_is_one_open_and_at_most_a_few_reads_a_file(tree, tmp_path):
    found = []
    cost = count_mounted(tree, tmp_path / "scratch", lambda place: found.append(read_all(place)))
    if "recorded" in cost.note:
        pytest.skip(cost.note)
    assert found == [read_all(tree)]
    assert cost.source.opens == 1
    assert COUNT <= cost.source.reads <= 3 * COUNT
    assert COUNT * SIZE <= cost.source.nbytes <= 2 * COUNT * SIZE
    assert not list((tmp_path / "scratch").iterdir())


@needs_mount
def test_what_fails_while_reading_leaves_no_mount(tree, tmp_path):
    def fail(place):
        raise ValueError("while it is mounted")

    with pytest.raises(ValueError, match="while it is mounted"):
        count_mounted(tree, tmp_path / "scratch", fail)
    assert not list((tmp_path / "scratch").iterdir())


def test_without_the_programs_the_recorded_counts_say_so(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(mounted.shutil, "which", lambda _: None)
    cost = count_mounted(tree, tmp_path / "scratch", read_all)
    assert cost.source == RECORDED_MOUNT
    assert cost.note.startswith("recorded elsewhere, with 500 files: mksquashfs is not installed")


@needs_mount
def test_a_refused_mount_gives_the_recorded_counts(tree, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise subprocess.CalledProcessError(1, "squashfuse", b"", b"fuse: mount failed")

    monkeypatch.setattr(mounted.strace, "trace", refuse)
    assert "fuse: mount failed" in count_mounted(tree, tmp_path / "scratch", read_all).note

"""Atomic writes: a reader sees the old or the new file, and a failure leaves nothing behind."""

import os

import pytest

from course_utils.system import create_atomically, remove_temporaries, write_atomically


def failing():
    yield b"the first half"
    raise OSError("the disk is full")


@pytest.mark.parametrize("write", [write_atomically, create_atomically])
def test_a_failure_keeps_the_old_file_and_leaves_no_other(write, tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("old")
    with pytest.raises(OSError, match="full"):
        write(path, failing())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("old")
    with path.open() as old:
        write_atomically(path, [b"new", b"er"])
        assert old.read() == "old"
    assert path.read_text() == "newer"


def test_what_another_process_has_created_is_kept(tmp_path):
    path = tmp_path / "plan.json"
    create_atomically(path, [b"first"])
    create_atomically(path, [b"second"])
    assert path.read_text() == "first"


@pytest.mark.parametrize(("mode", "umask", "found"), [(0o600, 0, 0o600), (0o666, 0o027, 0o640)])
def test_only_those_may_read_it_who_are_meant_to(mode, umask, found, tmp_path):
    before = os.umask(umask)
    try:
        write_atomically(tmp_path / "marks.csv", [b"ann,5"], mode=mode)
    finally:
        os.umask(before)
    assert (tmp_path / "marks.csv").stat().st_mode & 0o777 == found


def test_what_killed_writers_left_is_removed_and_nothing_else(tmp_path):
    path = tmp_path / "manifest.json"
    path.write_text("kept")
    (tmp_path / ".manifest.json.0011223344556677.tmp").write_text("half")
    (tmp_path / ".other.json.0011223344556677.tmp").write_text("another writer's")
    remove_temporaries(path)
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        ".other.json.0011223344556677.tmp",
        "manifest.json",
    ]

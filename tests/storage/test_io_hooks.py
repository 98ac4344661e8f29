"""Hooks report file operations to listeners and leave nothing patched."""

import builtins
import io
import os
import tarfile

import pytest

from course_utils.storage import io_hooks


class RecordingListener(list):
    def __call__(self, kind, nbytes):
        self.append((kind, nbytes))


def test_listener_receives_operations_until_it_is_removed(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    first, second = RecordingListener(), RecordingListener()
    io_hooks.add_listener(first)
    io_hooks.add_listener(second)
    file.stat()
    io_hooks.remove_listener(first)
    descriptor = os.open(file, os.O_RDONLY)
    os.pread(descriptor, 3, 0)
    os.close(descriptor)
    io_hooks.remove_listener(second)
    file.stat()
    assert first == [("stats", 0)]
    assert second == [("stats", 0), ("opens", 0), ("reads", 3)]


def test_buffer_size_sets_what_a_read_fetches_in_the_body_only(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(100_000))
    listener = RecordingListener()
    io_hooks.add_listener(listener)
    for size in (8192, 65536):
        with io_hooks.buffer_size(size), file.open("rb") as handle:
            handle.read(1)
    with file.open("rb") as handle:
        handle.read(1)
    io_hooks.remove_listener(listener)
    fetched = [nbytes for kind, nbytes in listener if kind == "reads"]
    assert fetched == [8192, 65536, io_hooks.BUFFER_BYTES]


def test_impossible_buffer_size_raises():
    with pytest.raises(ValueError, match="a buffer of 1 bytes"):
        io_hooks.set_buffer_size(1)


def test_removing_the_last_listener_restores_all_functions():
    def functions():
        return [builtins.open, io.open, tarfile.bltn_open, os.open, os.stat, os.lstat, os.scandir, os.read]

    originals, listener = functions(), RecordingListener()
    io_hooks.add_listener(listener)
    assert all(now is not original for now, original in zip(functions(), originals, strict=True))
    io_hooks.remove_listener(listener)
    assert functions() == originals


def test_disabled_hooks_report_nothing_and_can_be_nested(tmp_path):
    listener = RecordingListener()
    io_hooks.add_listener(listener)
    with io_hooks.disabled():
        with io_hooks.disabled():
            tmp_path.stat()
        tmp_path.stat()
    tmp_path.stat()
    io_hooks.remove_listener(listener)
    assert listener == [("stats", 0)]

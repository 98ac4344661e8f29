"""``course_utils.storage.io_hooks``: who is told what, and that nothing stays behind."""

import builtins
import io
import os
import tarfile

from course_utils.storage import io_hooks


class Heard(list):
    def __call__(self, kind, nbytes):
        self.append((kind, nbytes))


def test_all_listeners_are_told_until_they_leave(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    first, second = Heard(), Heard()
    io_hooks.listen(first)
    io_hooks.listen(second)
    file.stat()
    io_hooks.stop_listening(first)
    descriptor = os.open(file, os.O_RDONLY)
    os.pread(descriptor, 3, 0)
    os.close(descriptor)
    io_hooks.stop_listening(second)
    file.stat()
    assert first == [("stats", 0)]
    assert second == [("stats", 0), ("opens", 0), ("reads", 3)]


def test_the_last_one_to_leave_puts_everything_back():
    def functions():
        return [builtins.open, io.open, tarfile.bltn_open, os.open, os.stat, os.lstat, os.scandir, os.read]

    before, heard = functions(), Heard()
    io_hooks.listen(heard)
    assert all(now is not then for now, then in zip(functions(), before, strict=True))
    io_hooks.stop_listening(heard)
    assert functions() == before


def test_a_listener_may_work_unnoticed(tmp_path):
    heard = Heard()
    io_hooks.listen(heard)
    with io_hooks.unnoticed():
        with io_hooks.unnoticed():
            tmp_path.stat()
        tmp_path.stat()
    tmp_path.stat()
    io_hooks.stop_listening(heard)
    assert heard == [("stats", 0)]

"""What happens to a source while it is copied: an error and no set, or the state at the beginning."""

import os
import random
import socket
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from course_utils.scratch.presets import ScratchError
from course_utils.scratch.staging import stage_set
from tests.scratch.files import files_of, tar_of

COUNT, SIZE = 12, 5_000_000  # bytes: more than is read at once


@pytest.fixture
def scratch(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def folder_of(path: Path) -> Path:
    for number in range(COUNT):
        (path / str(number % 3)).mkdir(parents=True, exist_ok=True)
        (path / str(number % 3) / f"{number}.bin").write_bytes(bytes([number]) * 1000)
    return path


def file_of(path: Path) -> Path:
    path.write_bytes(bytes([1]) * SIZE)
    return path


def archive_of(path: Path) -> Path:
    return tar_of(path, {f"{number}.bin": bytes([number]) * 1_000_000 for number in range(COUNT)})


def rewrite(path: Path) -> None:
    """Write other bytes into a file, and set its time back, as programs do that copy."""
    status = path.stat()
    with path.open("r+b") as file:
        file.write(os.urandom(1000)[: status.st_size])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace(path: Path) -> None:
    new = path.with_name("new")
    new.write_bytes(path.read_bytes())
    new.replace(path)


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def extend(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


CHANGES = {one.__name__: one for one in (rewrite, replace, truncate, extend, Path.unlink)}


def stage_and_change(source: Path, scratch: Path, way: str, change, at: int) -> bool:
    """Change the source when the block with number `at` has been written.

    Nothing must be staged, or what the source holds at the end. Returns whether it was refused.
    """
    blocks = 0

    def report(_: int) -> None:
        nonlocal blocks
        blocks += 1
        if blocks == at:
            time.sleep(0.01)  # the kernel's clock of files has steps of some milliseconds
            change()

    try:
        staged = stage_set(source, scratch, way, report=report)
    except ScratchError:
        assert all(name.endswith(".lock") for name in files_of(scratch))
        return True
    assert files_of(staged.path) == files_of(source)
    return False


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("make", "way"), [(file_of, "copy"), (archive_of, "unpack")])
def test_a_file_that_changes_while_it_is_copied_is_not_staged(tmp_path, scratch, make, way, change):
    source = make(tmp_path / "set.tar")
    assert stage_and_change(source, scratch, way, lambda: CHANGES[change](source), at=1)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", range(4))
def test_a_folder_in_which_any_file_changes_at_any_time_is_staged_as_it_is_at_the_end(
    tmp_path, scratch, change, seed
):
    source, rng = folder_of(tmp_path / "set"), random.Random(seed)
    path = rng.choice(sorted(path for path in source.rglob("*") if path.is_file()))
    at = rng.randint(1, COUNT)
    refused = stage_and_change(source, scratch, "files", lambda: CHANGES[change](path), at)
    assert refused or at < COUNT


@pytest.mark.parametrize("at", [1, COUNT // 2, COUNT])
@pytest.mark.parametrize("where", ["", "0", "2"])
def test_a_file_that_appears_in_a_folder_is_not_left_out(tmp_path, scratch, at, where):
    source = folder_of(tmp_path / "set")
    change = partial((source / where / "new.bin").write_bytes, b"new")
    refused = stage_and_change(source, scratch, "files", change, at)
    assert refused or at < COUNT


def test_the_next_call_stages_the_changed_source(tmp_path, scratch):
    source = file_of(tmp_path / "set.bin")
    with pytest.raises(ScratchError, match=r"set.bin has changed while it was copied"):
        stage_set(source, scratch, report=lambda _: rewrite(source))
    staged = stage_set(source, scratch)
    assert staged.copied
    assert staged.path.read_bytes() == source.read_bytes()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        before = Path.cwd()
        os.chdir(path.parent)  # the path of a socket may have 100 characters
        try:
            server.bind(path.name)
        finally:
            os.chdir(before)


def broken_link(path: Path) -> None:
    path.symlink_to("nowhere")


def device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize("make", [pipe, unix_socket, broken_link, device])
def test_what_is_no_file_in_a_folder_is_refused_at_once(tmp_path, scratch, make):
    source = folder_of(tmp_path / "set")
    make(source / "1" / "odd")
    with pytest.raises(ScratchError, match="odd is neither a file nor a folder"):
        stage_set(source, scratch)
    (source / "1" / "odd").unlink()
    assert stage_set(source, scratch).copied


@pytest.mark.parametrize("make", [pipe, unix_socket, device])
@pytest.mark.parametrize("way", ["auto", "unpack"])
def test_what_is_no_file_is_refused_as_a_source(tmp_path, scratch, make, way):
    make(tmp_path / "odd")
    with pytest.raises(ScratchError, match="is neither a file nor a folder"):
        stage_set(tmp_path / "odd", scratch, way)


def test_links_to_files_are_followed_and_loops_are_an_error(tmp_path, scratch):
    source = folder_of(tmp_path / "set")
    (source / "link.bin").symlink_to("0/0.bin")
    assert (stage_set(source, scratch).path / "link.bin").read_bytes() == bytes(1000)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        stage_set(tmp_path / "loop", scratch)


def test_empty_folders_are_kept(tmp_path, scratch):
    (tmp_path / "set" / "empty" / "inner").mkdir(parents=True)
    staged = stage_set(tmp_path / "set", scratch)
    assert (staged.path / "empty" / "inner").is_dir()
    assert not stage_set(tmp_path / "set", scratch).copied


@pytest.mark.parametrize("name", ["manifest.json", "data"])
def test_no_name_of_the_data_is_that_of_the_manifest(tmp_path, scratch, name):
    (tmp_path / name).write_bytes(b"mine")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / name).write_bytes(b"mine")
    assert stage_set(tmp_path / name, scratch).path.read_bytes() == b"mine"
    assert (stage_set(tmp_path / "set", scratch).path / name).read_bytes() == b"mine"
    assert not stage_set(tmp_path / name, scratch, verify=True).copied


@pytest.mark.skipif(sys.platform != "linux", reason="names may be any bytes on Linux alone")
@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, os.fsdecode(b"\xe9" * 200)])
def test_long_names_are_staged(tmp_path, scratch, name):
    (tmp_path / name).write_bytes(b"mine")
    assert stage_set(tmp_path / name, scratch).path.read_bytes() == b"mine"
    assert not stage_set(tmp_path / name, scratch).copied

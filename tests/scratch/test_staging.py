import fcntl
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from course_utils.scratch.presets import ScratchError
from course_utils.scratch.staging import stage_set
from course_utils.system import in_child, waiting_child
from tests.scratch.faults.injection import compiled, inject
from tests.scratch.files import files_of, tar_of

FILES = {"a/one.bin": os.urandom(70_000), "a/two.bin": b"", "three.bin": os.urandom(9_000)}


@pytest.fixture
def source(tmp_path):
    (tmp_path / "shared").mkdir()
    return tar_of(tmp_path / "shared" / "set.tar", FILES)


@pytest.fixture
def scratch(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def test_file_is_copied_once(source, scratch):
    first, again = stage_set(source, scratch), stage_set(source, scratch)
    assert (first.copied, again.copied, first.path) == (True, False, again.path)
    assert first.path.read_bytes() == source.read_bytes()
    assert (first.files, first.nbytes) == (1, source.stat().st_size)


def test_tar_is_unpacked(source, scratch):
    staged = stage_set(source, scratch, "unpack")
    assert files_of(staged.path) == FILES
    assert staged.nbytes == sum(map(len, FILES.values()))


def test_folder_is_copied_file_by_file(source, scratch, tmp_path):
    tree = tmp_path / "tree"
    shutil.unpack_archive(source, tree, filter="data")
    assert files_of(stage_set(tree, scratch).path) == FILES


def test_a_changed_source_is_staged_beside_the_old_one(source, scratch):
    old = stage_set(source, scratch)
    os.utime(source, ns=(1, 1))
    new = stage_set(source, scratch)
    assert new.copied
    assert old.path.read_bytes() == new.path.read_bytes()
    assert old.path != new.path


@pytest.mark.parametrize("verify", [False, True])
def test_wrong_bytes_of_the_right_size_are_found_on_request(source, scratch, verify):
    staged = stage_set(source, scratch)
    staged.path.write_bytes(bytes(source.stat().st_size))
    assert stage_set(source, scratch, verify=verify).copied == verify


@pytest.mark.parametrize("damage", ["cut", "file", "manifest"])
def test_a_damaged_set_is_replaced_and_open_files_stay(source, scratch, damage):
    path = stage_set(source, scratch).path
    if damage == "cut":
        path.write_bytes(b"half")
    else:
        (path if damage == "file" else path.parent.parent / "manifest.json").unlink()
    reader = path.open("rb") if damage == "cut" else None
    assert stage_set(source, scratch).copied
    assert path.read_bytes() == source.read_bytes()
    if reader:
        with reader:
            assert reader.read() == b"half"


def test_others_wait_for_the_lock_while_one_process_copies(source, scratch):
    with waiting_child(lambda wait: stage_set(source, scratch, report=lambda _: wait()).copied) as one:
        (lock,) = scratch.glob("staged-*/.*.lock")
        with lock.open() as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert not [path for path in lock.parent.iterdir() if not path.name.startswith(".")]
        assert one(b"")
    assert not stage_set(source, scratch).copied


def test_a_full_disk_leaves_nothing_but_the_lock(source, scratch):
    def stage():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        with pytest.raises(ScratchError, match="full"):
            stage_set(source, scratch)

    in_child(stage)
    assert all(name.endswith(".lock") for name in files_of(scratch))
    assert stage_set(source, scratch).copied


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside"])
def test_tar_that_leads_out_of_its_folder_is_refused(scratch, tmp_path, name):
    with pytest.raises(ScratchError, match="outside"):
        stage_set(tar_of(tmp_path / "bad.tar", {name: b"data"}), scratch, "unpack")
    assert all(name.endswith(".lock") for name in files_of(scratch))


@pytest.mark.parametrize(
    ("way", "folder"), [("copy", True), ("unpack", True), ("files", False), ("no", False)]
)
def test_a_way_that_does_not_fit_is_refused(source, scratch, way, folder):
    with pytest.raises(ScratchError, match=r"stages|there are auto"):
        stage_set(source.parent if folder else source, scratch, way)


def test_damaged_tar_is_refused(scratch, tmp_path):
    (tmp_path / "bad.tar").write_bytes(b"no tar" * 1000)
    with pytest.raises(ScratchError, match="cannot be unpacked"):
        stage_set(tmp_path / "bad.tar", scratch, "unpack")


def test_a_link_in_place_of_the_lock_is_not_followed(source, scratch, tmp_path):
    stage_set(source, scratch)
    lock = next(scratch.glob("staged-*/.*.lock"))
    lock.unlink()
    lock.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        stage_set(source, scratch)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(not shutil.which("mksquashfs"), reason="needs squashfs-tools")
def test_squashfs_is_unpacked(source, scratch, tmp_path):
    shutil.unpack_archive(source, tmp_path / "tree", filter="data")
    image = tmp_path / "set.squashfs"
    subprocess.run(["mksquashfs", tmp_path / "tree", image, "-quiet"], check=True, capture_output=True)
    assert files_of(stage_set(image, scratch, "unpack").path) == FILES


def problems(tmp_path: Path, source: Path, stride: int) -> list[dict[str, object]]:
    """Stage with a fault in every n-th call that changes a file; return what went wrong."""
    folder = tmp_path / "cases"
    folder.mkdir()
    kinds = ["kill", "EIO", "ENOSPC", "EDQUOT", "EINTR", "short"]
    request = {"source": str(source), "scratch": str(folder), "stride": stride, "kinds": kinds}
    return inject(compiled(tmp_path), "tests.scratch.faults.runner", request, least=15)


def test_faults_at_some_calls_lose_nothing_and_block_nobody(source, tmp_path):
    assert problems(tmp_path, source, stride=3) == []


@pytest.mark.proof
def test_every_fault_at_every_call_loses_nothing_and_blocks_nobody(source, tmp_path):
    assert problems(tmp_path, source, stride=1) == []

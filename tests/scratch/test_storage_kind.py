import os
import sys
from pathlib import Path

import pytest

from course_utils.scratch import storage_kind
from course_utils.scratch.storage_kind import kind_of, storage_of

LINE = "{number} 1 0:{number} / {point} rw,relatime shared:1 - {file_system} {device} rw"


@pytest.fixture
def mounted(tmp_path, monkeypatch):
    """Write a list of mounts that the module reads."""

    def write(*mounts: tuple[str, str, str]) -> None:
        lines = [
            LINE.format(
                number=number, point=str(point).replace(" ", r"\040"), file_system=kind, device=device
            )
            for number, (point, kind, device) in enumerate(mounts)
        ]
        (tmp_path / "mounts").write_text("".join(f"{line}\n" for line in lines))
        monkeypatch.setattr(storage_kind, "MOUNTS", tmp_path / "mounts")
        monkeypatch.setattr(sys, "platform", "linux")

    return write


def test_the_innermost_mount_decides(mounted, tmp_path):
    (tmp_path / "a b" / "deep").mkdir(parents=True)
    mounted(
        ("/", "ext4", "/dev/sda1"), (tmp_path / "a b", "lustre", "10.0.0.1@o2ib:/fs"), ("/a", "xfs", "/dev/b")
    )
    found = storage_of(tmp_path / "a b" / "deep")
    assert (found.kind, found.file_system, found.mount_point) == ("network", "lustre", str(tmp_path / "a b"))
    assert found.quota_command == f"lfs quota -h -u $USER {tmp_path / 'a b'}"


def test_the_last_mount_at_a_point_covers_the_others(mounted, tmp_path):
    mounted(("/", "ext4", "/dev/sda1"), (tmp_path, "nfs4", "server:/x"), (tmp_path, "tmpfs", "tmpfs"))
    assert storage_of(tmp_path).kind == "memory"


def test_a_name_that_begins_like_a_mount_point_is_not_below_it(mounted, tmp_path):
    (tmp_path / "data2").mkdir()
    mounted(("/", "xfs", "/dev/nvme0n1p1"), (tmp_path / "data", "nfs", "server:/x"))
    assert storage_of(tmp_path / "data2").kind == "local disk"


def test_a_path_that_does_not_exist_lies_where_its_parent_does(mounted, tmp_path):
    mounted(("/", "ext4", "/dev/sda1"), (tmp_path, "tmpfs", "tmpfs"))
    assert storage_of(tmp_path / "no" / "such" / "file").kind == "memory"


def test_a_link_is_followed(mounted, tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far")
    mounted(("/", "ext4", "/dev/sda1"), (tmp_path / "far", "beegfs", "beegfs_nodev"))
    assert storage_of(tmp_path / "near").kind == "network"


@pytest.mark.parametrize(
    ("file_system", "device", "kind"),
    [
        ("xfs", "/dev/nvme0n1p3", "local disk"),
        ("ext4", "/dev/loop3", "unknown"),  # a file, which may lie anywhere
        ("ext4", "/dev/rbd0", "unknown"),
        ("overlay", "overlay", "unknown"),
        ("fuse.sshfs", "host:/", "network"),
        ("fuse.anything", "x", "unknown"),
        ("ramfs", "ramfs", "memory"),
    ],
)
def test_kinds(file_system, device, kind):
    assert kind_of(file_system, device) == kind


def test_another_system_is_not_known_but_its_space_is(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "darwin")
    found = storage_of(tmp_path)
    assert (found.kind, found.file_system) == ("unknown", "")
    assert found.total_bytes >= found.free_bytes > 0
    assert "does not tell" in str(found)


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="needs /dev/shm")
def test_shared_memory_of_this_machine_is_memory():
    assert storage_of(Path("/dev/shm")).kind == "memory"

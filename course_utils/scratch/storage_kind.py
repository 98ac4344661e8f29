"""Say what a path is stored on: a disk of this node, its memory, or a file system on the network.

Linux lists what is mounted where in `/proc/self/mountinfo` (proc_pid_mountinfo(5)); the type of the file
system decides. macOS has no such list, and a container hides what lies below its layers: the answer is
"unknown" then.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["local disk", "memory", "network", "unknown"]

MOUNTS = Path("/proc/self/mountinfo")
MEMORY = {"tmpfs", "ramfs"}
NETWORK = {
    "9p", "afs", "beegfs", "ceph", "cifs", "dvs", "fuse.ceph-fuse", "fuse.dfuse", "fuse.glusterfs",
    "fuse.juicefs", "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs", "gpfs", "lustre", "nfs", "nfs4", "ocfs2",
    "orangefs", "panfs", "pvfs2", "smb3", "virtiofs", "wekafs",
}  # fmt: skip
LOCAL = {"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "reiserfs", "xfs", "zfs"}
# Block devices that may lie on the network, or in a file.
REMOTE_DEVICES = re.compile(r"/dev/(loop|nbd|rbd|drbd|zram)\d+")
QUOTA_COMMANDS = {
    "lustre": "lfs quota -h -u $USER {mount_point}",
    "gpfs": "mmlsquota",
    "beegfs": "beegfs-ctl --getquota --uid $USER",
}


@dataclass(frozen=True)
class Storage:
    """What a path is stored on.

    Attributes:
        kind: Where the bytes lie.
        file_system: Its type, such as "ext4" or "lustre"; empty if it is not known.
        mount_point: The folder at which it is mounted; empty if it is not known.
        device: What is mounted there.
        free_bytes: Bytes that this account can still write, as far as the file system tells.
        total_bytes: Its size.
        quota_command: Shows the quota of this account, which `free_bytes` may leave out.
    """

    kind: Kind
    file_system: str
    mount_point: str
    device: str
    free_bytes: int
    total_bytes: int
    quota_command: str

    def __str__(self) -> str:
        what = {
            "local disk": f"a disk of this node ({self.file_system} on {self.device})",
            "memory": f"this node's memory ({self.file_system}): what lies there counts as used memory",
            "network": f"a file system on the network ({self.file_system}), which other nodes use, too",
            "unknown": f"not known here ({self.file_system or 'this system does not tell'})",
        }[self.kind]
        return f"{what}; {self.free_bytes / 1e9:,.1f} of {self.total_bytes / 1e9:,.1f} GB free"


class Mount(NamedTuple):
    """A line of mountinfo."""

    point: str
    file_system: str
    device: str


def storage_of(path: str | os.PathLike[str]) -> Storage:
    """Return what a path is stored on; one that does not exist yet lies where its nearest parent does.

    Raises:
        OSError: Its file system does not answer.
    """
    place = Path(path).resolve()
    while not place.exists():
        place = place.parent
    mount = _mount_of(place, _mounts(MOUNTS.read_text())) if sys.platform == "linux" else None
    space = os.statvfs(place)
    point, file_system, device = mount or ("", "", "")
    return Storage(
        kind_of(file_system, device),
        file_system,
        point,
        device,
        space.f_bavail * space.f_frsize,
        space.f_blocks * space.f_frsize,
        QUOTA_COMMANDS.get(file_system, "quota -s").format(mount_point=point),
    )


def kind_of(file_system: str, device: str = "") -> Kind:
    """Return where a file system of a type has its bytes."""
    if file_system in MEMORY:
        return "memory"
    if file_system in NETWORK:
        return "network"
    if file_system in LOCAL and not REMOTE_DEVICES.fullmatch(device):
        return "local disk"
    return "unknown"


def _mounts(text: str) -> list[Mount]:
    """Read mountinfo: before " - " the mount point, behind it the type and the device."""
    found = []
    for line in text.splitlines():
        place, _, what = line.partition(" - ")
        file_system, device, *_ = what.split(" ")
        found.append(Mount(_unescaped(place.split(" ")[4]), file_system, _unescaped(device)))
    return found


def _mount_of(place: Path, mounts: list[Mount]) -> Mount | None:
    """Return the mount below which a path lies; of several at one point, the last one covers the others."""
    around = [mount for mount in mounts if place.is_relative_to(mount.point)]
    return max(reversed(around), key=lambda mount: len(mount.point), default=None)


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)

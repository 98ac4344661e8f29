"""Linux namespaces, mounts and privileges, through the C library."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18

# A user namespace must keep these mount options when it remounts.
_FLAGS = {"nosuid": 2, "nodev": 4, "noexec": 8, "noatime": 1024, "nodiratime": 2048, "relatime": 1 << 21}

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 1, 4, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38
_LAST_CAPABILITY = 63
_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, operation: str) -> None:
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{operation}: {os.strerror(code)}")


def unshare(flags: int) -> None:
    """Move this process into new namespaces (its children, for a PID namespace)."""
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount a file system, or bind a folder to another place."""
    texts = [text.encode() or None for text in (source, target, kind)]
    arguments = ctypes.c_char_p(options.encode()) if options else None
    _check(_libc.mount(*texts, ctypes.c_ulong(flags), arguments), f"mount {target}")


def private_mounts() -> None:
    """Stop later mounts of this namespace from propagating to others."""
    mount("none", "/", "", MS_REC | MS_PRIVATE)


def private_tmpfs_around_mounts(target: str, megabytes: int) -> None:
    """Mount an empty tmpfs of limited size and number of files.

    What is mounted below `target` stays: an environment may lie in `/tmp`.
    """
    kept: dict[str, int] = {}
    for place in mounts():
        if place.startswith(f"{target}/") and not any(place.startswith(f"{outer}/") for outer in kept):
            kept[place] = os.open(place, os.O_PATH)
    options = f"size={megabytes}m,nr_inodes=100000,mode=1777"
    mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options)
    for place, handle in kept.items():
        source = Path(f"/proc/self/fd/{handle}")
        if source.is_dir():
            Path(place).mkdir(parents=True, exist_ok=True)
        else:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            Path(place).touch()
        # With all that is mounted inside it, which alone hides parts of it.
        mount(str(source), place, "", MS_BIND | MS_REC)
        os.close(handle)


def mounts() -> list[str]:
    """Return all mount points, in the order of mounting."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line.split()[4].replace("\\040", " ") for line in lines]


def freeze_mounts(writable: tuple[str, ...]) -> None:
    """Make every mounted file system read-only, except some and the kernel's own."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        target, options = line.split()[4:6]
        if target in writable or target == "/proc" or target.startswith(("/proc/", "/dev/pts")):
            continue
        kept = sum(flag for name, flag in _FLAGS.items() if name in options.split(","))
        mount("none", target.replace("\\040", " "), "", MS_REMOUNT | MS_BIND | MS_RDONLY | kept)


def enter_user_namespace() -> None:
    """Make this process root of a new user namespace, in which it may mount; needs no privilege."""
    user, group = os.geteuid(), os.getegid()
    unshare(CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")


def adopt_orphans() -> None:
    """Make this process the subreaper of its descendants' orphans, so that it can wait for them; on Linux."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def set_parent_death_signal() -> None:
    """Have the kernel kill this process when its parent dies (PR_SET_PDEATHSIG); on Linux."""
    if sys.platform == "linux":
        _libc.prctl(_PR_SET_PDEATHSIG, 9)


def forbid_tracing() -> None:
    """Let no process without privileges trace this one or read its memory (PR_SET_DUMPABLE)."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def show_own_use() -> None:
    """Let this process read in `/proc/self` what it uses, also as another user than the one it began as."""
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


def drop_privileges(user: int | None) -> None:
    """Give up all privileges irrevocably.

    Args:
        user: Numeric user and group to become; None keeps the present one (the only one of a namespace).
    """
    _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    version_3 = 0x20080522
    header = _CapabilityHeader(version_3, 0)
    _check(_libc.capset(ctypes.byref(header), (ctypes.c_uint32 * 6)()), "capset")

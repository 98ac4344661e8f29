"""Stage in forked children with a fault at each call that changes a file; started with the preloaded library.

Reads a request from standard input. Prints one line of JSON for each case that is not as it should be; in the
last line, the number of calls and cases.
"""

import ctypes
import errno
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from course_utils.scratch.presets import ScratchError
from course_utils.scratch.staged_set import is_whole, read_manifest
from course_utils.scratch.staging import stage_set
from tests.scratch.files import files_of

OWN = f"staged-{os.geteuid()}"
STRAY = {
    "other/data": b"of another tool",
    f"{OWN}/other-0123456789ab/data": b"of another job",
    f"{OWN}/.other-0123456789ab.xyz.part/data": b"being written",
}
EFFECTS = {"kill": 1000, "short": 1001}  # numbers of preload.c beside those of errors
ENDINGS = {0, 1, -signal.SIGKILL}


class Runner:
    """Stages one source again and again.

    Args:
        source: A tar, which is copied and unpacked.
        scratch: The parent of a new folder for each case.
    """

    def __init__(self, source: Path, scratch: Path) -> None:
        self.library, self.source, self.parent = ctypes.CDLL(None), source, scratch
        self.count = 0

    def start(self, scratch: Path, way: str, at: int, kind: str) -> int:
        """Stage in a child with a fault at a call; return its process id."""
        child = os.fork()
        if child:
            return child
        code = 70
        try:
            self.library.fault_arm(os.fsencode(scratch), at, EFFECTS.get(kind) or getattr(errno, kind))
            stage_set(self.source, scratch, way)
            code = 0
            if not at:
                (self.parent / "calls").write_text(str(self.library.fault_count()))
        except (ScratchError, OSError):
            code = 1
        finally:
            os._exit(code)

    def finish(self, child: int) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def calls(self, way: str) -> int:
        """Return how many calls change a file when nothing fails."""
        assert self.finish(self.start(self.new_scratch(), way, 0, "kill")) == 0
        return int((self.parent / "calls").read_text())

    def new_scratch(self) -> Path:
        self.count += 1
        scratch = self.parent / f"scratch{self.count}"
        (scratch / OWN).mkdir(mode=0o700, parents=True)
        for name, data in STRAY.items():
            (scratch / name).parent.mkdir(parents=True)
            (scratch / name).write_bytes(data)
        return scratch

    def problem(self, way: str, at: int, kind: str) -> str | None:
        """Inject a fault into one of two processes; return what is wrong.

        They stage at once at every other call, else one after the other.
        """
        scratch = self.new_scratch()
        faulty = self.start(scratch, way, at, kind)
        other = self.start(scratch, way, 0, kind) if at % 2 else None
        if (status := self.finish(faulty)) not in ENDINGS:
            return f"the process with the fault ended with {status}"
        if status := self.finish(other or self.start(scratch, way, 0, kind)):
            return f"the other process ended with {status}"
        staged = stage_set(self.source, scratch, way, verify=True)
        if staged.copied:
            return "the set is not whole after a call that returned"
        folder = staged.path.parent.parent
        manifest = read_manifest(folder)
        if manifest is None or not is_whole(folder, manifest, verify=True):
            return "the set is not whole"
        files = files_of(scratch)
        ours = f"{folder.relative_to(scratch)}/"
        kept = {name: data for name, data in files.items() if not name.startswith(ours)}
        left = {name for name in kept if not name.endswith(".lock")} - set(STRAY)
        if left or any(files.get(name) != data for name, data in STRAY.items()):
            return f"left behind: {sorted(left)}; or the files of another job have changed"
        return None


def cases(calls: int, stride: int, kinds: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the number of a call and a fault: all, or at every n-th call a kill and another one in turn."""
    for turn, at in enumerate(range(1, calls + 1, stride)):
        chosen = kinds if stride == 1 else ["kill", kinds[turn % len(kinds)]]
        yield from ((at, kind) for kind in chosen)


def run(source: str, scratch: str, stride: int, kinds: list[str]) -> None:
    runner, calls, number = Runner(Path(source), Path(scratch)), 0, 0
    for way in ("copy", "unpack"):
        here = runner.calls(way)
        calls += here
        for at, kind in cases(here, stride, kinds):
            number += 1
            if problem := runner.problem(way, at, kind):
                sys.stdout.write(json.dumps({"way": way, "at": at, "kind": kind, "problem": problem}) + "\n")
    sys.stdout.write(json.dumps({"calls": calls, "cases": number}) + "\n")


if __name__ == "__main__":
    run(**json.load(sys.stdin))

"""Run a command in forked children with a fault in each; `injection.py` starts it with the preloaded library.

Reads a request from standard input, and prints one line of JSON for each case that is not as it should be; in
the last line, the number of calls and cases.
"""

import ctypes
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from data_setup.cli import main
from data_setup.create import builder
from data_setup.sources import PhotoSource
from tests.data_setup.faults.scenarios import SCENARIOS, Scenario

ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EINTR", "ESTALE")
KINDS = {"kill": 1000, "short": 1001, "stop": 1002} | {name: getattr(errno, name) for name in ERRORS}


class Request(NamedTuple):
    """What to run.

    Args:
        work: A folder on the filesystem to test, for this alone.
        log: A file outside of it.
        scenario: The name of a command.
        always: What happens at every call that is tried.
        in_turn: What also happens there, one of them at each call.
        stride: Try every n-th call.
        image: The file that holds the filesystem of `work`, for power cuts; or empty.
    """

    work: str
    log: str
    scenario: str
    always: list[str]
    in_turn: list[str]
    stride: int
    image: str

    def cases(self, calls: int) -> list[tuple[int, str]]:
        at = range(1, calls + 1, self.stride)
        turns = [(call, self.in_turn[n % len(self.in_turn)]) for n, call in enumerate(at) if self.in_turn]
        return [*((call, kind) for call in at for kind in self.always), *turns]


class Runner:
    """Runs one command again and again, and compares what it makes."""

    def __init__(self, request: Request, scenario: Scenario) -> None:
        self.library = ctypes.CDLL(None)
        self.out, self.scenario = Path(request.work) / "set", scenario
        self.log, self.image = Path(request.log), request.image
        self.prepare()
        status, message = self.run(self.out, 0, "kill", count=True)
        assert status == 0, message
        self.calls = int(message.splitlines()[-1])
        self.expected = scenario.made(self.out)

    def prepare(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.scenario.prepare(self.out)

    def run(self, out: Path, at: int, kind: str, count: bool = False) -> tuple[int, str]:
        """Return the exit status of the command, and what it wrote to stderr."""
        child = os.fork()
        if child == 0:
            self.run_child(out, at, kind, count)
        _, status = os.waitpid(child, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            self.cut_power()
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), self.log.read_text()

    def run_child(self, out: Path, at: int, kind: str, count: bool) -> None:
        code = 70
        try:
            sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the process ends
            os.dup2(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            self.library.fault_arm(os.fsencode(self.out), at, KINDS[kind])
            code = main([*self.scenario.command, "--out", str(out)])
            if count:
                sys.stderr.write(f"{self.library.fault_count()}\n")
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(code)

    def problem(self, at: int, kind: str) -> str | None:
        """Inject one fault, then run the command again without one; return what is wrong."""
        self.prepare()
        if kind == "stop":
            return self.problem_after_power_cut(at)
        status, message = self.run(self.out, at, kind)
        if status == 0:
            if different := self.difference(self.out):
                return f"status 0, but {different}"
        elif status == 1:
            if not message.startswith("data_setup: ") or message.count("\n") != 1:
                return f"no error in one line: {message}"
        elif kind != "kill" or status != -signal.SIGKILL:
            return f"status {status}: {message}"
        return self.problem_of_next_run(self.out)

    def problem_of_next_run(self, out: Path) -> str | None:
        status, message = self.run(out, 0, "kill")
        if status and "has a manifest.json already" not in message:  # nothing is left to adopt
            return f"the next run ended with status {status}: {message}"
        different = self.difference(out)
        return different and f"after the next run {different}"

    def difference(self, out: Path) -> str | None:
        try:
            made = self.scenario.made(out)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None if made == self.expected else f"other files were made: {sorted(made)}"

    def cut_power(self) -> None:
        """Copy the disk as it is, without what the kernel still holds in memory."""
        shutil.copyfile(self.image, f"{self.image}.cut")

    def problem_after_power_cut(self, at: int) -> str | None:
        """Cut the power at a call, or after the end for a higher number; continue with what is on disk."""
        os.sync()
        status, message = self.run(self.out, at, "stop")
        if status == 0:
            self.cut_power()
        elif status != -signal.SIGKILL:
            return f"status {status}: {message}"
        point = Path(f"{self.image}.point")
        point.mkdir(exist_ok=True)
        subprocess.run(["mount", "-o", "loop", f"{self.image}.cut", point], check=True)
        try:
            return self.problem_of_next_run(point / self.out.name)
        finally:
            subprocess.run(["umount", point], check=True)


def run(request: Request) -> None:
    work = Path(request.work)
    builder.CHUNK = 2  # so that a few images are several chunks
    terminal, sys.stdout = sys.stdout, sys.stderr
    inputs = work / "inputs"
    inputs.mkdir()
    scenario = SCENARIOS[request.scenario](inputs)
    PhotoSource(1, 0).renderer()  # decodes the photographs, which the children inherit
    runner = Runner(request, scenario)
    cases = request.cases(runner.calls)
    if request.image:
        cases.append((runner.calls + 1, "stop"))
    for at, kind in cases:
        if problem := runner.problem(at, kind):
            terminal.write(json.dumps({"at": at, "kind": kind, "problem": problem}) + "\n")
    terminal.write(json.dumps({"calls": runner.calls, "cases": len(cases)}) + "\n")


if __name__ == "__main__":
    run(Request(**json.load(sys.stdin)))

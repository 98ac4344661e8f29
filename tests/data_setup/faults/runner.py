"""Run a command in forked children with a fault in each; `injection.py` starts it with the preloaded library.

Reads a request from standard input, and prints one line of JSON for each case that is not as it should be; in
the last line, the number of calls and cases.
"""

import ctypes
import gc
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from PIL import Image
from tqdm import tqdm

from data_setup import cli
from data_setup.cli import main
from data_setup.create import builder, encoded_set, publish, render, worker_pool
from data_setup.inspect import adopt
from data_setup.sources import collection_source, full_size_photos, photo_source
from tests.data_setup.faults.power_cuts import power_cuts
from tests.data_setup.faults.request import Request, number_of
from tests.data_setup.faults.scenarios import SCENARIOS, Scenario


class Runner:
    """Runs one command again and again, and compares what it makes."""

    def __init__(self, request: Request, scenario: Scenario) -> None:
        self.library = ctypes.CDLL(None)
        self.out = Path(request.work) / "set"
        self.scenario, self.log = scenario, Path(request.log)
        self.prepare()
        main([*scenario.command, "--out", str(self.out)])  # in this process, which keeps what is cached
        self.expected = scenario.made(self.out)
        self.prepare()
        status, message = self.finish(self.start(self.out, 0, "kill", count=True))
        assert status == 0, message
        self.calls = int(message.splitlines()[-1])
        assert self.difference(self.out) is None

    def prepare(self) -> None:
        shutil.rmtree(self.out, ignore_errors=True)
        self.scenario.prepare(self.out)

    def start(self, out: Path, at: int, kind: str, count: bool = False) -> int:
        """Run the command in a child with a fault at a call; return its process id."""
        child = os.fork()
        if child:
            return child
        code = 70
        try:
            os.dup2(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
            self.library.fault_arm(os.fsencode(self.out), at, number_of(kind))
            code = main([*self.scenario.command, "--out", str(out)])
            if count:
                sys.stderr.write(f"{self.library.fault_count()}\n")
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(code)

    def finish(self, child: int) -> tuple[int, str]:
        """Return the exit status of a child, and what it wrote to stderr."""
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status), self.log.read_text()

    def problem(self, at: int, kind: str) -> str | None:
        """Inject one fault, then run the command again without one; return what is wrong."""
        self.prepare()
        status, message = self.finish(self.start(self.out, at, kind))
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
        status, message = self.finish(self.start(out, 0, "kill"))
        if status and "has a manifest.json already" not in message:  # nothing is left to adopt
            return f"the next run ended with status {status}: {message}"
        different = self.difference(out)
        return different and f"after the next run {different}"

    def difference(self, folder: Path) -> str | None:
        try:
            made = self.scenario.made(folder)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None if made == self.expected else f"other files were made: {sorted(made)}"


def remember_what_never_changes() -> None:
    """Let the children inherit pixels, versions and the parser: they are not what is tested."""
    for owner, name in (
        (cli, "_parser"),
        (photo_source.PhotoSource, "render"),
        (full_size_photos.FullSizePhotos, "render"),
        (collection_source, "to_square"),
        (encoded_set, "library_versions"),
        (publish, "library_versions"),
        (adopt, "library_versions"),
    ):
        setattr(owner, name, cache(getattr(owner, name)))
    original = render.encode
    encode = cache(lambda size, pixels: original(Image.frombytes("RGB", size, pixels)))
    render.encode = lambda image: encode(image.size, image.tobytes())
    tqdm.monitor_interval = 0  # a thread, which a forked child would lack
    gc.freeze()  # a collection would copy all inherited memory in each child


def run(request: Request) -> None:
    builder.CHUNK = worker_pool.CHUNK = 2  # so that a few images are several chunks
    terminal, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the process ends
    remember_what_never_changes()
    inputs = Path(request.work) / "inputs"
    inputs.mkdir()
    runner = Runner(request, SCENARIOS[request.scenario](inputs))
    cases = 0
    for at, kind, problem in found(request, runner):
        cases += 1
        if problem:
            terminal.write(json.dumps({"at": at, "kind": kind, "problem": problem}) + "\n")
    terminal.write(json.dumps({"calls": runner.calls, "cases": cases}) + "\n")


def found(request: Request, runner: Runner) -> Iterable[tuple[int, str, str | None]]:
    if request.image:
        return power_cuts(runner, Path(request.image), request.stride)
    return ((at, kind, runner.problem(at, kind)) for at, kind in request.cases(runner.calls))


if __name__ == "__main__":
    run(Request(**json.load(sys.stdin)))

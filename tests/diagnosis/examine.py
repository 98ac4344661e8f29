"""Run scripts under the diagnosis, each in a fork of one process that has imported torch.

`python -m tests.diagnosis.examine "SCRIPT ARGUMENT" ...` writes a line of JSON for each.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.lessons.lesson import COURSE

LIMIT = 600  # seconds of one script


class Patient(NamedTuple):
    """What came of one script: its status, what it wrote, and its report."""

    status: int
    output: str
    errors: str
    report: dict

    @property
    def causes(self) -> list[str]:
        return [finding["cause"] for finding in self.report["findings"]]


def examine_all(commands: list[str], *options: str) -> dict[str, Patient]:
    """Run the diagnosis on each command, such as "train.py --epochs 3", in a process apart."""
    argv = [sys.executable, "-m", "tests.diagnosis.examine", " ".join(options), *commands]
    done = subprocess.run(argv, cwd=COURSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {command: Patient(*line) for command, line in zip(commands, lines, strict=True)}


def examine(options: list[str], command: list[str]) -> Patient:
    """Run the diagnosis in a fork of this process."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        report = folder / "report.json"
        pid = os.fork()
        if not pid:
            _become_command(folder, ["--json", str(report), *options, *command])
        _, status = os.waitpid(pid, 0)
        found = json.loads(report.read_text()) if report.exists() else {}
        texts = [(folder / name).read_text() for name in ("output", "errors")]
        return Patient(os.waitstatus_to_exitcode(status), *texts, found)


def _become_command(folder: Path, arguments: list[str]) -> None:
    """Run the command as a process that has just started, and end."""
    import atexit
    import traceback
    from multiprocessing.util import _exit_function

    status = 1
    signal.alarm(LIMIT)
    try:
        for number, name in ((1, "output"), (2, "errors")):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
        sys.stdout, sys.stderr = os.fdopen(1, "w", closefd=False), os.fdopen(2, "w", closefd=False)
        atexit._clear()
        from course_utils.diagnosis.command import main

        status = main(arguments)
        _exit_function()
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    import PIL.Image  # noqa: F401
    import torch  # noqa: F401

    for command in sys.argv[2:]:
        patient = examine(shlex.split(sys.argv[1]), shlex.split(command))
        sys.stdout.write(json.dumps(patient) + "\n")
        sys.stdout.flush()

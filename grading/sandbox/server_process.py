"""The fork server as the client sees it: a process in a sandbox that answers requests."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grading.sandbox.control import ControlError, ask
from grading.sandbox.isolation.backends import sandbox_command
from grading.sandbox.isolation.cgroups import Group, create_group
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.protocol import ControlMessage, Setup

START_SECONDS = 180
# Where nothing isolates a submission, it runs with these beside the teacher's own variables.
UNISOLATED = {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class GraderFaultError(RuntimeError):
    """The grader itself failed; no mark may result from it."""


class ServerProcess:
    """A running fork server. Any failure ends it, with its sandbox.

    Args:
        kind: A backend, as `backends.choose` returns it.
        modules: Modules that the fork server imports once.
        limits: What one submission may use.
        readable: Folders that submissions may read.
        module_folders: Folders to import modules from first.

    Raises:
        GraderFaultError: It does not start.
    """

    def __init__(
        self,
        kind: str,
        modules: tuple[str, ...],
        limits: Limits,
        readable: list[Path],
        module_folders: list[Path],
    ) -> None:
        self._control, theirs = socket.socketpair()
        self._group = create_group(limits) if kind != "none" else Group()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        setup: Setup = {
            "modules": list(modules),
            "path": [str(folder) for folder in module_folders],
            "nested": kind != "none",
            "users": os.geteuid() == 0,
            "grouped": bool(self._group),
        }
        module = "grading.sandbox.fork_server"
        command = [sys.executable, "-I", "-m", module, str(theirs.fileno()), json.dumps(setup)]
        with theirs:
            self._process = subprocess.Popen(
                self._group.wrap(sandbox_command(kind, command, readable)),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env={**os.environ, **UNISOLATED} if kind == "none" else None,
            )
        self.ask({"action": "ready"})
        self._group.started(self._process.pid)

    def ask(self, message: ControlMessage, *descriptors: int) -> Any:  # noqa: ANN401 - any JSON
        """Send the fork server a request and return its answer.

        Raises:
            GraderFaultError: There is no good answer; the sandbox has been ended.
        """
        try:
            return ask(self._control, message, START_SECONDS, *descriptors)
        except ControlError as error:
            tail = self.log_tail()
            self.close()
            raise GraderFaultError(f"The sandbox failed: {error}. {tail}") from error

    def is_running(self) -> bool:
        """Say whether the sandbox is alive."""
        return self._process.poll() is None

    def kill_reason(self) -> str:
        """Return a sentence if a limit of the whole submission has killed it, else ''."""
        return self._group.kill_reason()

    def log_tail(self) -> str:
        """Return the end of what the fork server has printed."""
        self._log.seek(0)
        return self._log.read()[-2000:].decode("utf-8", "replace")

    def close(self) -> None:
        """End the sandbox and all its processes."""
        if self._log.closed:
            return
        self._control.close()
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._group.remove()

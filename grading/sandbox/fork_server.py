"""The fork server in the sandbox: imports modules once, then forks a process for each submission.

It runs no student code. `server_process.ServerProcess` starts it and is its client.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

from grading.sandbox.control import answer_all
from grading.sandbox.isolation import namespaces
from grading.sandbox.isolation.inherited import reset_inherited
from grading.sandbox.isolation.limits import TOO_MANY_PROCESSES, TOO_MUCH_MEMORY, Limits
from grading.sandbox.isolation.usage import exceeds_memory, processes_below, processor_seconds
from grading.sandbox.protocol import SIGNALED, Channel, ControlMessage, Ending, Setup
from grading.sandbox.submission_process import PRIVATE, run_submission
from grading.sandbox.worker import make_shell

# No submission can bring these about here: its own limits are its own.
MACHINE_ERRORS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
EXIT_SECONDS = 0.5
OWN_PROCESSES = 2  # of a submission, beside the student's
LOOK_SECONDS, LOOK_SHARE = 0.1, 0.05  # between looks at a submission's memory; of one processor


class ForkServer:
    """The fork server's state and its answers to the client's requests.

    Args:
        setup: How submissions run.
        shell: The shell in which their cells run.
    """

    def __init__(self, setup: Setup, shell: InteractiveShell) -> None:
        self._setup, self._shell = setup, shell
        self._child = 0
        self._limits = Limits()
        self._kill_reason = ""
        self._next_look = 0.0

    def watch(self) -> float | None:
        """Kill a submission that has more memory or processes than it may, where no control group limits it.

        Returns:
            After how many seconds to look again; None if there is nothing to watch.
        """
        if not self._child or self._kill_reason or self._setup["grouped"] or not self._setup["nested"]:
            return None
        start = time.monotonic()
        if start >= self._next_look:
            self._kill_reason = self._excess()
            if self._kill_reason:
                os.kill(self._child, signal.SIGKILL)
            now = time.monotonic()
            self._next_look = now + max(LOOK_SECONDS, (now - start) / LOOK_SHARE)
        return self._next_look - time.monotonic()

    def _excess(self) -> str:
        pids = processes_below(self._child)
        if len(pids) > self._limits.processes + OWN_PROCESSES:
            return TOO_MANY_PROCESSES
        file_systems = [self._inside(folder) for folder in PRIVATE]
        too_much = exceeds_memory(pids, file_systems, self._limits.memory_mb * 2**20)
        return TOO_MUCH_MEMORY if too_much else ""

    def handle(self, message: ControlMessage, descriptors: list[int]) -> Any:  # noqa: ANN401 - any JSON
        """Do what a message asks for and return the answer."""
        if message["action"] == "run":
            return self._run(message, *descriptors)
        if message["action"] == "open_socket":
            return self._open_socket(message["address"], *descriptors)
        if message["action"] == "count_seconds":
            return processor_seconds(processes_below(self._child))
        if message["action"] == "end":
            return self._end(message["crashed"])
        return message["action"]

    def _run(self, message: ControlMessage, descriptor: int) -> None:
        self._limits, self._kill_reason = Limits(**message["limits"]), ""
        self._child = os.fork()
        if self._child == 0:
            channel = Channel(socket.socket(fileno=descriptor))
            run_submission(channel, self._shell, self._setup, message)
        os.close(descriptor)

    def _open_socket(self, address: str, descriptor: int) -> str:
        """Let a socket listen where only the submission sees it; see `_problem`."""
        before = os.umask(0)  # a submission is another user, and must be able to connect
        try:
            with socket.socket(fileno=descriptor) as listener:
                place = str(self._inside(address))
                return _problem(lambda: listener.bind(place)) or _problem(listener.listen)
        finally:
            os.umask(before)

    def _inside(self, path: str) -> Path:
        """Return a path of the submission's file system as this process sees it."""
        return Path(f"/proc/{self._child}/root{path}" if self._setup["nested"] else path)

    def _end(self, crashed: bool) -> Ending:
        """Kill the submission's processes."""
        code = _reap(self._child) if crashed else None
        _kill_submission(self._child if code is None else 0)
        self._child = 0
        return {"code": code, "reason": self._kill_reason}


def serve(control: socket.socket, setup: Setup) -> None:
    """Serve the client's requests until it closes the connection.

    Args:
        control: Socket to the client.
        setup: How submissions run.
    """
    if setup["nested"]:
        reset_inherited()
    sys.path[:0] = setup["path"]
    for module in setup["modules"]:
        importlib.import_module(module)
    namespaces.adopt_orphans()
    server = ForkServer(setup, make_shell())
    answer_all(control, server.handle, server.watch)


def _problem(action: Callable[[], object]) -> str:
    """Return why an action in a submission's file system failed; '' if it did not.

    Raises:
        OSError: It failed for a reason that no submission can bring about.
    """
    try:
        action()
    except OSError as error:
        if error.errno in MACHINE_ERRORS:
            raise
        return str(error)  # a student may have filled the disk
    return ""


def _reap(child: int) -> int | None:
    """Wait a short time for a child's own end; return its exit code, 128 + n after signal n, else None."""
    end = time.monotonic() + EXIT_SECONDS
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else SIGNALED - code
        time.sleep(0.002)
    return None


def _kill_submission(child: int) -> None:
    """Kill a submission, if it has not been reaped (0), and its processes; their orphans come here."""
    while True:
        for pid in {child, *_children()} - {0}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.wait()
        except ChildProcessError:
            return


def _children() -> list[int]:
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(pid) for pid in children.read_text().split()] if children.exists() else []


def main() -> None:
    """Serve the socket whose number is the first argument, with the `Setup` in the second."""
    serve(socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2]))


if __name__ == "__main__":
    main()

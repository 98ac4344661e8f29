"""Runs one submission's steps in the sandbox, seen from outside: deadlines, crashes and starts again."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course_utils.checks.core import evidence
from course_utils.grading.sandbox import backends, cgroups
from course_utils.grading.sandbox.limits import Limits
from course_utils.grading.sandbox.protocol import Channel, ClosedError

WARM_MODULES = ("numpy", "PIL.Image", "matplotlib.pyplot", "torch", "torchvision", "torch.utils.data")
START_SECONDS = 180
MAX_STARTS = 8


class GraderFaultError(RuntimeError):
    """The grader's own side failed; no mark may follow from it."""


class _NotGivenError(RuntimeError):
    """There is no room for the files of a check: a submission may have filled its disk."""


@dataclass(frozen=True)
class Handout:
    """What a check gives to its probe.

    Attributes:
        inputs: The encoded inputs.
        folder: Where the sandbox is to lay out `files`, watched from outside; empty where it is not.
        files: The files by name.
    """

    inputs: bytes = b""
    folder: str = ""
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One thing to do in the sandbox.

    Attributes:
        index: The cell of the notebook.
        source: Source of a cell to run; for a check the source of its answers, such as `"Dataset, "`.
        check: Name of the check; empty for a cell.
        module: Module that holds the check.
        handout: Makes what the check gives to its probe.
    """

    index: int
    source: str
    check: str = ""
    module: str = ""
    handout: Callable[[], Handout] = Handout


@dataclass
class Reply:
    """What came back of one step; everything in it may be a lie, except `outcome`.

    Attributes:
        outcome: `done`, `crashed` (the process died), `timed out`, or `skipped` (no time was left).
        reason: For people: what happened.
        opened: How often the files of the handout were opened, seen from outside; None where nobody looked.
    """

    outcome: str = "done"
    reason: str = ""
    text: str = ""
    error: str = ""
    evidence: bytes = b""
    pictures: list[bytes] = field(default_factory=list)
    seconds: float = 0.0
    opened: dict[str, int] | None = None


class Box:
    """A running sandbox with a fork server in it; runs one submission at a time.

    Args:
        kind: What `sandbox.choose` found.
        modules: Modules that the fork server imports once.
        limits: What one submission may use.
        readable: Folders that submissions may read, such as the course's data.
        module_folders: Folders that modules are imported from, before the environment's own.
    """

    def __init__(
        self,
        kind: str,
        modules: tuple[str, ...] = WARM_MODULES,
        limits: Limits | None = None,
        readable: list[Path] | None = None,
        module_folders: list[Path] | None = None,
    ) -> None:
        self.kind, self.modules, self.limits = kind, modules, limits or Limits()
        self.readable, self.module_folders = readable or [], module_folders or []
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, steps: list[Step], files: dict[str, bytes]) -> dict[int, Reply]:
        """Runs a submission; a step that kills the process is left out and the rest runs again.

        Args:
            steps: In the order of the notebook.
            files: The lesson's and the student's files by relative name.

        Returns:
            One reply for each step's index.
        """
        replies: dict[int, Reply] = {}
        end = time.monotonic() + self.limits.total_seconds
        for _ in range(MAX_STARTS):
            if self._attempt(steps, files, replies, end):
                break
        for step in steps:
            replies.setdefault(
                step.index, Reply("skipped", "The submission used up its time before this cell.")
            )
        return replies

    def close(self) -> None:
        """Ends the sandbox and everything in it."""
        if self._process is None:
            return
        self._control.close()
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._group.remove()
        self._process = None

    def _attempt(
        self, steps: list[Step], files: dict[str, bytes], replies: dict[int, Reply], end: float
    ) -> bool:
        channel = self._launch()
        try:
            self._hand_over(channel, files)
            for step in steps:
                known = replies.get(step.index)
                if known is not None and (step.check or known.outcome != "done"):
                    continue
                if time.monotonic() >= end:
                    return True
                replies[step.index] = reply = self._one(channel, step, end)
                if reply.outcome != "done":
                    return False
            return True
        finally:
            channel.close()
            self._finish()

    def _hand_over(self, channel: Channel, files: dict[str, bytes]) -> None:
        """Sends the files; until the sandbox has them, none of a student's code has run."""
        try:
            channel.send({"files": files}, time.monotonic() + START_SECONDS)
            channel.receive(time.monotonic() + START_SECONDS)
        except (TimeoutError, ClosedError) as error:
            raise GraderFaultError(f"A submission did not start: {error} {self._said()}") from error

    def _one(self, channel: Channel, step: Step, end: float) -> Reply:
        start = time.monotonic()
        deadline = min(start + self.limits.cell_seconds, end)
        handout = step.handout()
        try:
            self._give(handout)
            channel.send(self._order(step, handout), deadline)
            reply = _read(channel.receive(deadline))
            reply.opened = self._opened(handout)
        except TimeoutError:
            reply = Reply("timed out", f"This cell did not end within {deadline - start:.0f} seconds.")
        except _NotGivenError as error:
            reply = Reply("crashed", f"The files of this exercise could not be laid out: {error}")
        except ClosedError:
            reply = Reply("crashed", self._group.cause() or "The process died while this cell ran.")
        reply.seconds = time.monotonic() - start
        return reply

    def _give(self, handout: Handout) -> None:
        """Has the fork server lay out files where the student's process finds them."""
        if not handout.folder:
            return
        with tempfile.TemporaryFile() as file:
            file.write(evidence.encode(handout.files))
            file.seek(0)
            order = json.dumps({"do": "give", "folder": handout.folder}).encode()
            socket.send_fds(self._control, [order], [file.fileno()])
        if (said := self._answer()) != b"given":
            raise _NotGivenError(said.decode())

    def _opened(self, handout: Handout) -> dict[str, int] | None:
        if not handout.folder:
            return None
        self._control.sendall(json.dumps({"do": "opened"}).encode())
        try:
            return json.loads(self._answer())
        except ValueError as error:
            raise GraderFaultError(f"Nobody counted what was opened: {error} {self._said()}") from error

    def _order(self, step: Step, handout: Handout) -> dict[str, Any]:
        order = {"output_kb": self.limits.output_kb, "source": step.source, "kind": "cell"}
        if step.check:
            order |= {"kind": "check", "answers": step.source, "inputs": handout.inputs}
            order |= {"check": step.check, "module": step.module}
        return order

    def _launch(self) -> Channel:
        """Has the fork server start a submission; starts the server where there is none."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        ours, theirs = socket.socketpair()
        # Every submission is a user of its own: nothing that the kernel keeps for a user passes on.
        order = {"do": "run", "limits": asdict(self.limits), "user": 0x60000000 + secrets.randbelow(2**24)}
        with theirs:
            try:
                socket.send_fds(self._control, [json.dumps(order).encode()], [theirs.fileno()])
            except OSError as error:
                self.close()
                raise GraderFaultError(f"The sandbox has died: {error}") from error
        return Channel(ours)

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        self._group = cgroups.make(self.limits)
        root = os.geteuid() == 0
        orders = {
            "modules": self.modules,
            "path": [str(folder) for folder in self.module_folders],
            "nested": self.kind != "none",
            "users": root,
            "grouped": bool(self._group),
        }
        command = [
            sys.executable,
            "-I",
            "-m",
            "course_utils.grading.sandbox.fork_server",
            str(theirs.fileno()),
            json.dumps(orders),
        ]
        command = self._group.enter(backends.sandbox_command(self.kind, command, self.readable))
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        with theirs:
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
            )
        self._control.settimeout(START_SECONDS)
        if self._answer() != b"ready":
            raise GraderFaultError(f"The sandbox did not start: {self._said()}")
        self._try_out()

    def _try_out(self) -> None:
        """Runs what cannot fail, so that a fault of the sandbox is never taken for a student's."""
        trial: dict[int, Reply] = {}
        if not self._attempt([Step(0, "print(6 * 7)")], {}, trial, time.monotonic() + START_SECONDS):
            raise GraderFaultError(
                f"A trial in the sandbox {trial[0].outcome}: {trial[0].reason} {self._said()}"
            )
        if trial[0].text != "42\n":
            raise GraderFaultError(f"A trial in the sandbox printed {trial[0].text!r}")

    def _answer(self) -> bytes:
        try:
            return self._control.recv(4096)
        except OSError as error:
            return str(error).encode()

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read()[-2000:].decode("utf-8", "replace")

    def _finish(self) -> None:
        """Ends a submission with everything that it started, or else the whole sandbox."""
        try:
            self._control.sendall(json.dumps({"do": "end"}).encode())
            gone = self._answer().lstrip(b"-").isdigit()
        except OSError:
            gone = False
        if not gone or self.kind == "none":
            self.close()


def _read(message: object) -> Reply:
    """Takes from a message only what has the right type."""
    if not isinstance(message, dict):
        raise ClosedError("a message of another form")
    texts = {name: str(message.get(name, ""))[:100_000] for name in ("text", "error")}
    evidence = message.get("evidence", b"")
    pictures = [p for p in message.get("pictures", []) if isinstance(p, bytes) and p.startswith(b"\x89PNG")]
    return Reply(evidence=evidence if isinstance(evidence, bytes) else b"", pictures=pictures[:8], **texts)

"""Host-side client of a sandbox: runs steps with timeouts, detects crashes, restarts."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from course_utils.checks.core import evidence
from course_utils.checks.world import BaseWorld, WorldServer
from course_utils.grading.sandbox.isolation import Limits, create_group, sandbox_command
from course_utils.grading.sandbox.protocol import (
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    MAX_REPLY,
    Channel,
    ClosedError,
    ControlMessage,
    Files,
    Ready,
    Setup,
    StepReply,
    StepRequest,
)
from course_utils.grading.sandbox.steps import Handout, Reply, Step

PRELOADED_MODULES = ("numpy", "PIL.Image", "matplotlib.pyplot", "torch", "torchvision", "torch.utils.data")
START_SECONDS = 180
MAX_STARTS = 8
MAX_TEXT = 100_000


class GraderFaultError(RuntimeError):
    """The grader itself failed; no mark may result from it."""


class _FilesNotPlacedError(RuntimeError):
    """The files of a check cannot be written: a submission may have filled its disk."""


class Sandbox:
    """A running sandbox with a fork server in it; runs one submission at a time.

    Args:
        kind: A backend, as `backends.choose` returns it.
        modules: Modules that the fork server imports once.
        limits: What one submission may use.
        readable: Folders that submissions may read, such as the course's data.
        module_folders: Folders to import modules from, before the environment's own.
    """

    def __init__(
        self,
        kind: str,
        modules: tuple[str, ...] = PRELOADED_MODULES,
        limits: Limits | None = None,
        readable: list[Path] | None = None,
        module_folders: list[Path] | None = None,
    ) -> None:
        self.kind, self.modules, self.limits = kind, modules, limits or Limits()
        self.readable, self.module_folders = readable or [], module_folders or []
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, steps: list[Step], files: dict[str, bytes]) -> dict[int, Reply]:
        """Run a submission; after a step that kills the process, the others run again without it.

        Args:
            steps: In the order of the notebook.
            files: The lesson's and the student's files by relative name.

        Returns:
            One reply for each step's index.

        Raises:
            GraderFaultError: The sandbox itself failed.
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
        """End the sandbox and all its processes."""
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
        """Run the steps that have no reply yet; return False where one did not end as `done`."""
        channel = self._start_submission()
        try:
            self._send_files(channel, files)
            for step in steps:
                known = replies.get(step.index)
                if known is not None and (step.check or known.outcome != "done"):
                    continue
                if time.monotonic() >= end:
                    return True
                replies[step.index] = reply = self._run_step(channel, step, end)
                if reply.outcome != "done":
                    return False
            return True
        finally:
            channel.close()
            self._end_submission()

    def _send_files(self, channel: Channel, files: dict[str, bytes]) -> None:
        """Send the submission's files; no student code runs before they have arrived."""
        try:
            channel.send(Files(files), time.monotonic() + START_SECONDS)
            channel.receive(Ready, time.monotonic() + START_SECONDS, MAX_REPLY)
        except (TimeoutError, ClosedError) as error:
            raise GraderFaultError(f"A submission did not start: {error} {self._log_tail()}") from error

    def _run_step(self, channel: Channel, step: Step, end: float) -> Reply:
        start = time.monotonic()
        deadline = min(start + self.limits.cell_seconds, end)
        handout = step.handout()
        world = handout.world() if handout.world else None
        try:
            self._place_files(handout)
            with self._serve(world) as address:
                channel.send(self._request(step, handout, address), deadline)
                reply = _reply(channel.receive(StepReply, deadline, MAX_REPLY))
            reply.opened, reply.world = self._count_openings(handout), world
        except TimeoutError:
            reply = Reply("timed out", f"This cell did not finish within {deadline - start:.0f} seconds.")
        except _FilesNotPlacedError as error:
            reply = Reply("crashed", f"The files of this exercise could not be written: {error}")
        except ClosedError:
            reply = Reply("crashed", self._group.kill_reason() or "The process died while this cell ran.")
        reply.seconds = time.monotonic() - start
        return reply

    def _place_files(self, handout: Handout) -> None:
        """Have the fork server write files where the student's process finds them."""
        if not handout.folder:
            return
        with tempfile.TemporaryFile() as file:
            file.write(evidence.encode(handout.files))
            file.seek(0)
            self._control_message({"action": "place_files", "folder": handout.folder}, file.fileno())
        if (answer := self._answer()) != b"placed":
            raise _FilesNotPlacedError(answer.decode())

    @contextmanager
    def _serve(self, world: BaseWorld | None) -> Iterator[str]:
        """Serve a world to the submission while a step runs; yield the address of its socket, if any."""
        if world is None:
            yield ""
            return
        address = f"/tmp/world-{secrets.token_hex(8)}"  # a submission cannot create it first
        self._control_message({"action": "open_socket", "address": address})
        try:
            answer, descriptors, *_ = socket.recv_fds(self._control, 4096, 1)
        except OSError as error:
            raise _FilesNotPlacedError(str(error)) from error
        if not descriptors:
            raise _FilesNotPlacedError(answer.decode())
        try:
            with WorldServer(world, socket.socket(fileno=descriptors[0])):
                yield address
        finally:
            if self.kind == "none":
                Path(address).unlink(missing_ok=True)

    def _count_openings(self, handout: Handout) -> dict[str, int] | None:
        if not handout.folder:
            return None
        self._control_message({"action": "count_openings"})
        try:
            counts: dict[str, int] = json.loads(self._answer())
        except ValueError as error:
            raise GraderFaultError(
                f"The fork server counted no openings: {error} {self._log_tail()}"
            ) from error
        return counts

    def _request(self, step: Step, handout: Handout, world: str) -> StepRequest:
        return StepRequest(step.source, self.limits.output_kb, step.check, step.module, handout.inputs, world)

    def _start_submission(self) -> Channel:
        """Have the fork server start a submission; start the server first if it does not run."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        ours, theirs = socket.socketpair()
        # Each submission is a user of its own, so kernel objects kept per user do not pass to the next.
        user = 0x60000000 + secrets.randbelow(2**24)
        with theirs:
            try:
                self._control_message(
                    {"action": "run", "limits": asdict(self.limits), "user": user}, theirs.fileno()
                )
            except OSError as error:
                self.close()
                raise GraderFaultError(f"The sandbox has died: {error}") from error
        return Channel(ours)

    def _control_message(self, message: ControlMessage, *descriptors: int) -> None:
        socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        self._group = create_group(self.limits)
        setup: Setup = {
            "modules": list(self.modules),
            "path": [str(folder) for folder in self.module_folders],
            "nested": self.kind != "none",
            "users": os.geteuid() == 0,
            "grouped": bool(self._group),
        }
        command = [
            sys.executable,
            "-I",
            "-m",
            "course_utils.grading.sandbox.fork_server",
            str(theirs.fileno()),
            json.dumps(setup),
        ]
        command = self._group.wrap(sandbox_command(self.kind, command, self.readable))
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
            raise GraderFaultError(f"The sandbox did not start: {self._log_tail()}")
        self._self_test()

    def _self_test(self) -> None:
        """Run a cell that cannot fail, so that a fault of the sandbox is never taken for a student's."""
        trial: dict[int, Reply] = {}
        if not self._attempt([Step(0, "print(6 * 7)")], {}, trial, time.monotonic() + START_SECONDS):
            raise GraderFaultError(
                f"The sandbox's self-test {trial[0].outcome}: {trial[0].reason} {self._log_tail()}"
            )
        if trial[0].text != "42\n":
            raise GraderFaultError(f"The sandbox's self-test printed {trial[0].text!r}")

    def _answer(self) -> bytes:
        try:
            return self._control.recv(4096)
        except OSError as error:
            return str(error).encode()

    def _log_tail(self) -> str:
        self._log.seek(0)
        return self._log.read()[-2000:].decode("utf-8", "replace")

    def _end_submission(self) -> None:
        """End a submission with all its processes, or else the whole sandbox."""
        try:
            self._control_message({"action": "end"})
            ended = self._answer().lstrip(b"-").isdigit()
        except OSError:
            ended = False
        if not ended or self.kind == "none":
            self.close()


def _reply(message: StepReply) -> Reply:
    """Keep of a message what may be stored and shown."""
    pictures = [
        picture
        for picture in message.pictures
        if picture.startswith(b"\x89PNG") and len(picture) <= MAX_PICTURE_BYTES
    ]
    return Reply(
        text=message.text[:MAX_TEXT],
        error=message.error[:MAX_TEXT],
        evidence=message.evidence,
        pictures=pictures[:MAX_PICTURES],
    )

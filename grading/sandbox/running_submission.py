"""One submission in a sandbox, from its start to its end: files in, steps and replies, how it ended."""

from __future__ import annotations

import re
import secrets
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from course_utils.checks.world.server import WorldServer
from course_utils.checks.world.state import BaseWorld
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.protocol import (
    HOME,
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    MAX_REPLY,
    SIGNALED,
    Channel,
    ClosedError,
    Ending,
    Files,
    Ready,
    StepReply,
    StepRequest,
)
from grading.sandbox.server_process import START_SECONDS, GraderFaultError, ServerProcess
from grading.sandbox.steps import Handout, Reply, Step

MAX_TEXT = 100_000
EVIDENCE_READ = 20_000
# EAGAIN, ENOMEM, ENFILE, ENOSPC: what ran out may have been this machine's.
MACHINE_ERRORS = re.compile(rb"\[Errno (?:11|12|23|28)\]|can't start new thread")


class _NoSocketError(RuntimeError):
    """The socket of a check's world cannot be made: a submission may have filled its disk."""


class RunningSubmission:
    """A submission that a fork server runs; a context manager that ends it.

    Args:
        server: The fork server.
        limits: What it may use.
        isolated: Whether it sees a file system of its own; without, it gets a temporary folder.

    Raises:
        GraderFaultError: It could not be started.
    """

    def __init__(self, server: ServerProcess, limits: Limits, isolated: bool) -> None:
        self._server, self._limits = server, limits
        self._folder = None if isolated else tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._ended, self._start = False, time.monotonic()
        server.kill_reason()  # forget whom the kernel has killed until now
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours)
        with theirs:
            server.ask(
                {
                    "action": "run",
                    "limits": asdict(limits),
                    # Each is a user of its own: kernel objects kept per user do not pass to the next.
                    "user": 0x60000000 + secrets.randbelow(2**24),
                    "home": HOME if self._folder is None else self._folder.name,
                },
                theirs.fileno(),
            )

    def __enter__(self) -> RunningSubmission:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()
        if self._server.is_running() and not self._ended:
            self._server.ask({"action": "end", "crashed": False})
        if self._folder is not None:
            self._folder.cleanup()

    def send_files(self, files: dict[str, bytes]) -> None:
        """Send the submission's files; no student code runs before they have arrived.

        Raises:
            GraderFaultError: The submission's process did not start, or does not answer.
        """
        try:
            self._channel.send(Files(files), time.monotonic() + START_SECONDS)
            self._channel.receive(Ready, time.monotonic() + START_SECONDS, MAX_REPLY)
        except (TimeoutError, ClosedError) as error:
            tail = self._server.log_tail()
            raise GraderFaultError(f"A submission did not start: {error} {tail}") from error

    def run_step(self, step: Step, deadline: float) -> tuple[Reply, bool]:
        """Run one step; after any outcome but `done` the submission is of no more use.

        Args:
            step: The step.
            deadline: Until when it may run, on the monotonic clock.

        Returns:
            The reply, and whether a failure that it reports may be this machine's.

        Raises:
            GraderFaultError: The sandbox failed.
        """
        start, doubtful = time.monotonic(), False
        handout = step.handout()
        world = handout.world() if handout.world else None
        try:
            with self._serve(world) as address:
                self._channel.send(self._request(step, handout, address), deadline)
                reply = _reply(self._channel.receive(StepReply, deadline, MAX_REPLY))
            reply.world = world
            doubtful = _names_a_machine_error(reply)
        except TimeoutError:
            reply = Reply("timed out", f"This cell did not finish within {deadline - start:.0f} seconds.")
            doubtful = self._starved()
        except _NoSocketError as error:
            reply = Reply("crashed", f"The files of this exercise could not be written: {error}")
            doubtful = True
        except ClosedError:
            reply, doubtful = self._end_of_crashed()
        reply.seconds = time.monotonic() - start
        return reply, doubtful

    def _end_of_crashed(self) -> tuple[Reply, bool]:
        ending: Ending = self._server.ask({"action": "end", "crashed": True})
        self._ended = True
        killed = ending["code"] in (None, SIGNALED + signal.SIGKILL)  # itself, not only a child of it
        if reason := ending["reason"] or (self._server.kill_reason() if killed else ""):
            return Reply("crashed", reason), False
        return Reply("crashed", _ending(ending["code"])), ending["code"] == SIGNALED + signal.SIGKILL

    def _starved(self) -> bool:
        """Say whether this machine was too busy: the submission was ready to run, but mostly had to wait."""
        used, waited = self._server.ask({"action": "count_seconds"})
        half: float = (time.monotonic() - self._start) / 2
        return bool(used < half < waited)

    @contextmanager
    def _serve(self, world: BaseWorld | None) -> Iterator[str]:
        """Serve a world to the submission while a step runs; yield the address of its socket, if any."""
        if world is None:
            yield ""
            return
        address = f"/tmp/world-{secrets.token_hex(8)}"  # a submission cannot create it first
        listener = socket.socket(socket.AF_UNIX)
        if problem := self._server.ask({"action": "open_socket", "address": address}, listener.fileno()):
            listener.close()
            raise _NoSocketError(problem)
        try:
            with WorldServer(world, listener):
                yield address
        finally:
            if self._folder is not None:
                Path(address).unlink(missing_ok=True)

    def _request(self, step: Step, handout: Handout, world: str) -> StepRequest:
        output_kb = self._limits.output_kb
        return StepRequest(step.source, output_kb, step.check, step.module, handout.inputs, world)


def _names_a_machine_error(reply: Reply) -> bool:
    found = reply.error.encode(errors="replace") + reply.evidence[:EVIDENCE_READ]
    return MACHINE_ERRORS.search(found) is not None


def _ending(code: int | None) -> str:
    """Say in a sentence how a process ended, from its exit code."""
    if code is None:
        return "The process closed its connection to the grader while this cell ran."
    if code == SIGNALED + signal.SIGXCPU:
        return "The process was ended: it used more processor time than a submission may use."
    if code > SIGNALED:
        return f"The process died while this cell ran: {signal.strsignal(code - SIGNALED)}."
    return f"The process ended with exit status {code} while this cell ran."


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

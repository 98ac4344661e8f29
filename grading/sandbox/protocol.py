"""Messages between the grader and a sandbox: a length, then a declared type encoded as evidence."""

from __future__ import annotations

import socket
import time
from typing import Any, Required, TypedDict, TypeVar

import msgspec

from course_utils.checks.core import evidence

HOME = "/home/student"  # of a submission in a sandbox
SIGNALED = 128  # plus the signal: the exit code of a submission that a signal ended, as in a shell
_PREFIX = 8
# A reply comes from a student's process. The other direction carries submitted files, bounded when read.
MAX_REPLY = 40 * 2**20
MAX_PICTURES, MAX_PICTURE_BYTES = 8, 2**20
T = TypeVar("T")


class ClosedError(ConnectionError):
    """The other end has closed the channel, or sent something that is not the expected message."""


class Files(msgspec.Struct):
    """The grader's first message: a submission's files by relative name."""

    files: dict[str, bytes]


class Ready(msgspec.Struct):
    """The reply to `Files`: they are written, and steps can run."""

    ready: bool = True


class StepRequest(msgspec.Struct):
    """A step to run.

    Attributes:
        source: Source of a cell; for a check the source of its answers, such as `"Dataset, "`.
        output_kb: Output kept of it.
        check: Name of the check; empty for a cell.
        module: Module that holds the check.
        inputs: Encoded inputs of the check's probe.
        world: Address of the check's world; empty without one.
    """

    source: str
    output_kb: int
    check: str = ""
    module: str = ""
    inputs: bytes = b""
    world: str = ""


class StepReply(msgspec.Struct):
    """The reply to `StepRequest`, which a student's code can forge.

    Attributes:
        text: Text that the step printed.
        error: Type and message of the exception that ended a cell.
        evidence: Encoded evidence of a check.
        pictures: PNG files.
    """

    text: str = ""
    error: str = ""
    evidence: bytes = b""
    pictures: list[bytes] = []


class Setup(TypedDict):
    """How the fork server runs submissions: its argument, as JSON.

    Attributes:
        path: Folders to import modules from first.
        modules: Modules to import at once.
        nested: Whether submissions get their own namespaces; without, nothing is isolated, on any system.
        users: Whether submissions can run as other users.
        grouped: Whether a control group limits their memory.
    """

    path: list[str]
    modules: list[str]
    nested: bool
    users: bool
    grouped: bool


class ControlMessage(TypedDict, total=False):
    """A message from the client to the fork server, as JSON.

    Attributes:
        action: `ready`, `run`, `open_socket`, `count_seconds` or `end`.
        limits: For `run`: the fields of `Limits`.
        user: For `run`: numeric user of the submission.
        home: For `run`: the folder that gets the submission's files.
        crashed: For `end`: the submission has ended itself, and how is asked for.
        address: For `open_socket`: path to which the Unix socket that comes with the message is bound.
    """

    action: Required[str]
    limits: dict[str, Any]
    user: int
    home: str
    crashed: bool
    address: str


class Ending(TypedDict):
    """The fork server's answer to `end`.

    Attributes:
        code: Exit code of a submission that ended itself, 128 + n after signal n; None of one that did not.
        reason: Why the fork server has killed it; empty if it has not.
    """

    code: int | None
    reason: str


class Channel:
    """One end of a stream socket that carries messages.

    Args:
        sock: A connected stream socket; the channel owns it from now on.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def send(self, value: msgspec.Struct, deadline: float | None = None) -> None:
        """Send one message.

        Raises:
            ClosedError: The other end has closed the channel.
            TimeoutError: It did not read before `deadline` (on the monotonic clock).
        """
        data = evidence.encode(value)
        try:
            self._set_timeout(deadline)
            self.sock.sendall(len(data).to_bytes(_PREFIX, "little") + data)
        except ConnectionError as error:  # any other error is this machine's
            raise ClosedError(str(error)) from error

    def receive(self, form: type[T], deadline: float | None = None, limit: int = evidence.MAX_BYTES) -> T:
        """Wait for one message.

        Args:
            form: Its type.
            deadline: On the monotonic clock.
            limit: Most bytes of a message.

        Raises:
            ClosedError: The other end has closed the channel, or its message is too large or of another type.
            TimeoutError: No whole message came before the deadline.
        """
        size = int.from_bytes(self._receive_bytes(_PREFIX, deadline), "little")
        if size > limit:
            raise ClosedError(f"a message of {size} bytes")
        try:
            return evidence.decode(self._receive_bytes(size, deadline), form)
        except evidence.DamagedEvidenceError as error:
            raise ClosedError(str(error)) from error

    def close(self) -> None:
        """Close this end."""
        self.sock.close()

    def _receive_bytes(self, count: int, deadline: float | None) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            self._set_timeout(deadline)
            try:
                part = self.sock.recv(min(count - len(parts), 2**20))
            except ConnectionError as error:
                raise ClosedError(str(error)) from error
            if not part:
                raise ClosedError("the other end has closed the channel")
            parts += part
        return bytes(parts)

    def _set_timeout(self, deadline: float | None) -> None:
        if deadline is None:
            self.sock.settimeout(None)
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.sock.settimeout(left)

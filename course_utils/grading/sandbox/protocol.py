"""Messages between the grader and a sandbox: a length, then plain data encoded as evidence."""

from __future__ import annotations

import socket
import time
from typing import Any, Required, TypedDict

from course_utils.checks.core import evidence

_PREFIX = 8
MAX_MESSAGE = 96 * 2**20
MAX_PICTURES = 8


class ClosedError(ConnectionError):
    """The other end has closed the channel, or sent something that is not a message."""


class Setup(TypedDict):
    """How the fork server runs submissions: its argument, as JSON.

    Attributes:
        path: Folders to import modules from first.
        modules: Modules to import at once.
        nested: Whether submissions get their own namespaces.
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
        action: `run`, `place_files`, `count_openings`, `open_socket` or `end`.
        limits: For `run`: the fields of `Limits`.
        user: For `run`: numeric user of the submission.
        folder: For `place_files`: the folder to make; a file with the encoded files comes with the message.
        address: For `open_socket`: path of the Unix socket to make, whose descriptor comes with the answer.
    """

    action: Required[str]
    limits: dict[str, Any]
    user: int
    folder: str
    address: str


class Channel:
    """One end of a stream socket that carries messages.

    Args:
        sock: A connected stream socket; the channel owns it from now on.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def send(self, value: Any, deadline: float | None = None) -> None:  # noqa: ANN401 - any plain data
        """Send one message.

        Raises:
            ClosedError: The other end has closed the channel.
            TimeoutError: It did not read before `deadline` (on the monotonic clock).
        """
        data = evidence.encode(value)
        try:
            self._set_timeout(deadline)
            self.sock.sendall(len(data).to_bytes(_PREFIX, "little") + data)
        except TimeoutError:
            raise
        except OSError as error:
            raise ClosedError(str(error)) from error

    def receive(self, deadline: float | None = None) -> Any:  # noqa: ANN401 - any plain data
        """Wait for one message.

        Raises:
            ClosedError: The other end has closed the channel, or its message cannot be decoded.
            TimeoutError: No whole message came before `deadline` (on the monotonic clock).
        """
        size = int.from_bytes(self._receive_bytes(_PREFIX, deadline), "little")
        if size > MAX_MESSAGE:
            raise ClosedError(f"a message of {size} bytes")
        try:
            return evidence.decode(self._receive_bytes(size, deadline))
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
            except TimeoutError:
                raise
            except OSError as error:
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

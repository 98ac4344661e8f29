"""Messages between the grader and a sandbox: a length and then evidence-encoded plain data."""

from __future__ import annotations

import socket
import time
from typing import Any

from course_utils.checks.core import evidence

_PREFIX = 8
MAX_MESSAGE = 96 * 2**20


class ClosedError(ConnectionError):
    """The other end is gone, or sent what is no message."""


class Channel:
    """One end of a stream socket that carries messages.

    Args:
        sock: A connected stream socket; the channel owns it from now on.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    def send(self, value: Any, deadline: float | None = None) -> None:  # noqa: ANN401 - any plain data
        """Sends one message.

        Raises:
            ClosedError: The other end is gone.
            TimeoutError: It did not read until `deadline` (on the monotonic clock).
        """
        data = evidence.encode(value)
        try:
            self._wait_until(deadline)
            self.sock.sendall(len(data).to_bytes(_PREFIX, "little") + data)
        except TimeoutError:
            raise
        except OSError as error:
            raise ClosedError(str(error)) from error

    def receive(self, deadline: float | None = None) -> Any:  # noqa: ANN401 - any plain data
        """Waits for one message.

        Raises:
            ClosedError: The other end is gone, or what it sent cannot be read.
            TimeoutError: Nothing whole came until `deadline` (on the monotonic clock).
        """
        size = int.from_bytes(self._exactly(_PREFIX, deadline), "little")
        if size > MAX_MESSAGE:
            raise ClosedError(f"a message of {size} bytes")
        try:
            return evidence.decode(self._exactly(size, deadline))
        except evidence.DamagedEvidenceError as error:
            raise ClosedError(str(error)) from error

    def close(self) -> None:
        """Closes this end."""
        self.sock.close()

    def _exactly(self, count: int, deadline: float | None) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            self._wait_until(deadline)
            try:
                part = self.sock.recv(min(count - len(parts), 2**20))
            except TimeoutError:
                raise
            except OSError as error:
                raise ClosedError(str(error)) from error
            if not part:
                raise ClosedError("the other end is gone")
            parts += part
        return bytes(parts)

    def _wait_until(self, deadline: float | None) -> None:
        if deadline is None:
            self.sock.settimeout(None)
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.sock.settimeout(left)

"""The handle by which a student's process asks the world of a check."""

import os
import socket
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from course_utils.checks.world.messages import Call, Reply, encode, framed, receive

TIMEOUT = 60.0  # seconds, so that a world that has ended does not hang a process that is left over
_REPLIES = msgspec.msgpack.Decoder(Reply)


class WorldError(RuntimeError):
    """The world has refused a call, or has ended."""


class Handle:
    """Calls the served methods of a world by name: ``handle.item(3)``.

    Works in any process and thread: each has a connection of its own. After pickling, it holds an address.

    Args:
        address: Path of the world's Unix socket.
        direct: Answers a request without the socket, in the process that makes this handle.
        part: Calls methods of this part of the world; 0 is the world itself.
    """

    def __init__(
        self, address: str, direct: Callable[[bytes, int], bytes] | None = None, part: int = 0
    ) -> None:
        self._address, self._direct, self._part = address, direct, part
        self._owner = os.getpid()
        self._own = threading.local()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):  # asked for by pickle, copy and IPython
            raise AttributeError(name)
        return partial(self.call, name)

    def __reduce__(self) -> tuple[type["Handle"], tuple[str, None, int]]:
        return Handle, (self._address, None, self._part)

    def part(self, number: int) -> "Handle":
        """Return a handle on a part of the world; they are counted from 1."""
        return Handle(self._address, self._direct, number)

    def call(self, method: str, *arguments: object) -> Any:  # noqa: ANN401 - plain data
        """Call a served method.

        Raises:
            WorldError: The world has refused the call, or has ended.
        """
        request = encode(Call(method, msgspec.Raw(encode(arguments)), self._part))
        reply = _REPLIES.decode(self._exchange(request))
        if reply.error:
            raise WorldError(reply.error)
        return reply.value

    def _exchange(self, request: bytes) -> bytes:
        if self._direct is not None and os.getpid() == self._owner:
            return self._direct(request, self._owner)
        try:
            # A thread has a connection of its own, and a forked child must not share that of its parent.
            if getattr(self._own, "process", None) != os.getpid():
                self._own.connection, self._own.process = _Connection(self._address), os.getpid()
            connection: _Connection = self._own.connection
            return connection.exchange(request)
        except OSError as error:
            raise WorldError(f"the check does not answer: {error}") from error


class _Connection:
    """A connection to a world, closed with the last reference to it."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(TIMEOUT)
        self._socket.connect(address)

    def exchange(self, request: bytes) -> bytes:
        """Send a request and wait for the reply."""
        self._socket.sendall(framed(request))
        return receive(self._socket)

    def __del__(self) -> None:
        self._socket.close()

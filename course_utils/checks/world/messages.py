"""Calls and replies between a handle and a world: a length, then MessagePack."""

import socket
from typing import Annotated, Any

import msgspec
import numpy as np

MAX_BYTES = 2**16
PREFIX = 4


class Call(msgspec.Struct, array_like=True):
    """A call of a served method of a world (part 0) or of one of its parts."""

    method: str
    arguments: msgspec.Raw
    part: Annotated[int, msgspec.Meta(ge=0)] = 0


class Reply(msgspec.Struct, array_like=True):
    """What it returned, or why it was refused."""

    value: Any = None
    error: str = ""


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} is not plain data")


encode = msgspec.msgpack.Encoder(enc_hook=_plain).encode


def framed(data: bytes) -> bytes:
    """Return a message with its length in front."""
    return len(data).to_bytes(PREFIX, "little") + data


def receive(sock: socket.socket) -> bytes:
    """Wait for one message.

    Raises:
        ConnectionError: The other end has closed the connection.
        TimeoutError: The socket's timeout has passed.
    """
    return _receive_bytes(sock, int.from_bytes(_receive_bytes(sock, PREFIX), "little"))


def _receive_bytes(sock: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = sock.recv(count - len(data))
        if not part:
            raise ConnectionError("the world has closed the connection")
        data += part
    return data

"""The control connection: one answer to each request of the client, in order.

Both ends are the grader's. A connection on which anything has failed is never used again (`ServerProcess`
ends its sandbox), so a late answer cannot be taken for the answer to another request.
"""

from __future__ import annotations

import json
import select
import socket
from collections.abc import Callable
from typing import Any

from grading.sandbox.protocol import ControlMessage

Handler = Callable[[ControlMessage, list[int]], Any]


class ControlError(RuntimeError):
    """The other end has failed, is gone, or does not answer in time."""


def ask(control: socket.socket, message: ControlMessage, seconds: float, *descriptors: int) -> Any:  # noqa: ANN401 - any JSON
    """Send a request and wait for its answer.

    Args:
        control: The client's end.
        message: The request.
        seconds: How long to wait.
        descriptors: Open files to pass along.

    Raises:
        ControlError: The server reported a failure, or did not answer.
    """
    try:
        control.settimeout(seconds)
        line = json.dumps(message).encode() + b"\n"
        control.sendall(line[socket.send_fds(control, [line], descriptors) :])
        answer, _ = _receive_line(control)
        if not answer:
            raise ControlError("the fork server has ended")
        found = json.loads(answer)
    except TimeoutError as error:
        raise ControlError(f"no answer to {message['action']!r} in {seconds:g} s") from error
    except ConnectionError as error:
        raise ControlError(f"the fork server has ended: {error}") from error
    if "fault" in found:
        raise ControlError(f"{message['action']!r} failed: {found['fault']}")
    return found["value"]


def answer_all(control: socket.socket, handle: Handler, wait: Callable[[], float | None]) -> None:
    """Answer each request with what `handle` returns, until the client closes the connection.

    Args:
        control: The server's end.
        handle: Called with each message and its descriptors, which it must close; what it raises is reported
            to the client as the server's failure.
        wait: Called before each wait for a request; returns after how many seconds to call it again, None
            for never.
    """
    while True:
        if not select.select([control], [], [], wait())[0]:
            continue
        line, descriptors = _receive_line(control)
        if not line:
            return
        try:
            answer = {"value": handle(json.loads(line), descriptors)}
        except Exception as error:
            answer = {"fault": f"{type(error).__name__}: {error}"}
        control.sendall(json.dumps(answer).encode() + b"\n")


def _receive_line(control: socket.socket) -> tuple[bytes, list[int]]:
    """Return the next line, empty at the end of the connection, and the descriptors that came with it."""
    line, descriptors = b"", list[int]()
    while not line.endswith(b"\n"):
        data, received, *_ = socket.recv_fds(control, 65536, 4)
        descriptors += received
        if not data:
            return b"", descriptors
        line += data
    return line, descriptors

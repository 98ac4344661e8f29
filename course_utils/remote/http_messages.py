"""Parse requests of HTTP/1.1 and write heads of answers, as far as clients of object stores need them."""

import asyncio
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class Request(NamedTuple):
    """The head of a request; the names of `headers` are in lower case."""

    method: str
    target: str
    headers: dict[str, str]


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read the head of a request; None if the client has closed the connection, or sends none.

    Raises:
        ValueError: It is none of HTTP/1.1.
    """
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None
    line, *fields = head.split("\r\n")[:-2]
    method, target, _ = line.split(" ")
    pairs = (field.partition(":") for field in fields)
    return Request(method, target, {name.lower(): value.strip() for name, _, value in pairs})


def parse_range(header: str, size: int) -> tuple[int, int] | None:
    """Return start and stop of the range that a header asks for; None for the whole, also for several ranges.

    Raises:
        IndexError: The range begins behind the end.
    """
    found = _RANGE.fullmatch(header)
    if not found or not any(found.groups()):
        return None
    first, last = found.groups()
    if not first:
        start, stop = max(size - int(last), 0), size
    else:
        start, stop = int(first), min(int(last) + 1 if last else size, size)
    if start >= stop:
        raise IndexError(header)
    return start, stop


def head_of(status: int, headers: Mapping[str, object]) -> bytes:
    """Return the head of an answer."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")

"""Answer requests for the files of a folder: with a delay, with faults, and with a record of them all.

Runs in a process of its own, in one thread: what is counted needs no lock, and any number of requests wait at
the same time.
"""

import asyncio
import os
from collections.abc import Sequence
from email.utils import formatdate
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from course_utils.remote.faults import Fault
from course_utils.remote.http_messages import Request, head_of, parse_range, read_request

PIECE = 1 << 20  # bytes written at a time
METHODS = ("GET", "HEAD")


class Answer(NamedTuple):
    """What is sent: a status, headers, and bytes of a file."""

    status: int
    headers: dict[str, object]
    body: bytes = b""


class FileService:
    """The files of a folder.

    Args:
        folder: The folder; links that lead out of it are not followed.
        delay: Seconds before each answer begins.
        faults: What goes wrong; of several that meet a request, the first one.

    Attributes:
        count: Requests since the record was cleared.
        nbytes: Bytes of bodies sent since then.
        most_in_flight: Most requests at one time since then.
    """

    def __init__(self, folder: Path, delay: float, faults: Sequence[Fault]) -> None:
        self.folder, self.delay, self.faults = folder.resolve(), delay, faults
        self._in_flight = 0
        self.clear()

    def clear(self) -> None:
        """Begin a new record; requests in flight count as its first ones at one time."""
        self.count, self.nbytes, self.most_in_flight = 0, 0, self._in_flight

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it is closed."""
        try:
            while request := await read_request(reader):
                self._in_flight += 1
                self.count += 1
                self.most_in_flight = max(self.most_in_flight, self._in_flight)
                try:
                    await self._answer(request, self.count, writer)
                finally:
                    self._in_flight -= 1
                if request.headers.get("connection", "").lower() == "close":
                    break
        except (ConnectionError, ValueError):
            pass  # the client has left, speaks another protocol, or a fault has closed the connection
        finally:
            writer.close()

    async def _answer(self, request: Request, number: int, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(self.delay)
        fault = next((fault for fault in self.faults if fault.meets(number)), None)
        answer = self._prepared(request, fault, number)
        writer.write(head_of(answer.status, {"Content-Length": len(answer.body), **answer.headers}))
        body = answer.body if request.method == "GET" else b""
        if fault and fault.kind == "closed" and answer.status < 400:
            body = body[: len(body) // 2]
        for start in range(0, len(body), PIECE):
            part = body[start : start + PIECE]
            self.nbytes += len(part)
            writer.write(part)
            await writer.drain()
        if len(body) < len(answer.body) and request.method == "GET":
            raise ConnectionAbortedError("as the fault demands")

    def _prepared(self, request: Request, fault: Fault | None, number: int) -> Answer:
        if request.method not in METHODS:
            return Answer(405, {"Allow": ", ".join(METHODS)})
        if fault and fault.kind == "busy":
            return Answer(503, {"Retry-After": 0}, b"busy, ask again\n")
        path = self.folder / unquote(urlsplit(request.target).path).lstrip("/")
        try:
            if not path.resolve().is_relative_to(self.folder) or not path.is_file():
                return Answer(404, {})
            return _of_file(path, request, fault, number)
        except (OSError, ValueError):  # names with zeros, files that nobody may read
            return Answer(404, {})


def _of_file(path: Path, request: Request, fault: Fault | None, number: int) -> Answer:
    with path.open("rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        size = status.st_size
        headers: dict[str, object] = {
            "Accept-Ranges": "bytes",
            "Content-Type": "application/octet-stream",
            "ETag": f'"{status.st_mtime_ns:x}-{size:x}"',
            "Last-Modified": formatdate(status.st_mtime, usegmt=True),
        }
        try:
            asked = parse_range(request.headers.get("range", ""), size)
        except IndexError:
            return Answer(416, {"Content-Range": f"bytes */{size}"})
        start, stop = asked or (0, size)
        if fault and fault.kind == "short" and asked and stop - start > 1:
            stop = start + (stop - start) // 2
        if asked:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        if request.method == "HEAD":
            return Answer(206 if asked else 200, {**headers, "Content-Length": stop - start})
        body = os.pread(file.fileno(), stop - start, start)
    if fault and fault.kind == "other_bytes":
        body = fault.damaged(body, number)
    return Answer(206 if asked else 200, headers, body)

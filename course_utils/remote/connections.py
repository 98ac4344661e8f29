"""Connections to one object over HTTP that are kept alive: as many as there are requests in flight."""

import http.client
import ssl
import threading
import weakref
from typing import NamedTuple
from urllib.parse import urlsplit


class Answer(NamedTuple):
    """An answer of a server.

    Args:
        status: The status.
        headers: The headers.
        body: As much of the body as has arrived.
    """

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Connections:
    """Connections of one process to an object; any of its threads may ask.

    Args:
        url: Address of the object, http or https.
        most: Most requests in flight at a time; others wait for their turn.
        timeout_s: Seconds without a byte after which an answer is given up.

    Raises:
        ValueError: The address is of another kind.
    """

    def __init__(self, url: str, most: int, timeout_s: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of an object: it begins with http:// or https://")
        self._host, self._port, self._secure = parts.hostname, parts.port, parts.scheme == "https"
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._timeout_s, self._context = timeout_s, ssl.create_default_context() if self._secure else None
        self._turns = threading.BoundedSemaphore(most)
        self._idle: list[http.client.HTTPConnection] = []
        self.close = weakref.finalize(self, _close_all, self._idle)

    def get(self, start: int, stop: int) -> Answer:
        """Ask for the bytes from `start` up to `stop`.

        Raises:
            OSError: No answer came: the connection was refused, or closed, or the time is up.
        """
        with self._turns:
            connection = self._idle.pop() if self._idle else self._connection()
            try:
                connection.request("GET", self._target, headers={"Range": f"bytes={start}-{stop - 1}"})
                response = connection.getresponse()
                answer = _read(response)
            except http.client.HTTPException as error:
                connection.close()
                raise ConnectionError(f"no answer of HTTP: {error!r}") from error
            except BaseException:
                connection.close()
                raise
            if response.length:  # something was not read: the next answer does not begin here
                connection.close()
            self._idle.append(connection)
            return answer

    def _connection(self) -> http.client.HTTPConnection:
        if not self._secure:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout_s)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=self._timeout_s, context=self._context
        )


def _read(response: http.client.HTTPResponse) -> Answer:
    """Read the body of an answer, unless it is the whole object, which may be larger than memory."""
    with response:
        try:
            body = b"" if response.status == http.client.OK else response.read()
        except http.client.IncompleteRead as error:
            body = error.partial
        except ConnectionError:
            body = b""
    return Answer(response.status, response.headers, body)


def _close_all(connections: list[http.client.HTTPConnection]) -> None:
    for connection in connections:
        connection.close()
    connections.clear()

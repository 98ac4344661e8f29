"""Read ranges of bytes of an object over HTTP, several at a time, and again where a server fails."""

import errno
import os
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from http import HTTPStatus
from typing import Any, NamedTuple

from course_utils.remote.connections import Answer, Connections
from course_utils.remote.merged_ranges import coalesce

MAY_PASS = (429, 500, 502, 503, 504)  # what a server answers that is busy, or ill for a while
LONGEST_PAUSE = 10.0  # seconds
ERRNO_OF = {401: errno.EACCES, 403: errno.EACCES, 404: errno.ENOENT, 410: errno.ENOENT}
Ranges = Sequence[tuple[int, int]]


class Identity(NamedTuple):
    """What tells an object from another one under the same address: its size, and its tag if it has one."""

    size: int
    tag: str


def outside(url: str, offset: int, length: int, size: int | None = None) -> ValueError:
    """Return the error for a range that does not lie within an object."""
    has = "" if size is None else f", which has {size:,} bytes"
    return ValueError(f"a range of {length:,} bytes at {offset:,} does not lie within {url}{has}")


class RangeReader:
    """Reads ranges of one object; any thread or process may, also one that was forked or unpickled it.

    Args:
        url: Address of the object.
        threads: Most requests in flight at a time.
        retries: How often a request is repeated that fails for a reason that may pass.
        pause_s: Seconds before the first repetition, half of them random; each next pause is twice as long.
        timeout_s: Seconds without a byte after which a request has failed.

    Raises:
        ValueError: The address is not of HTTP.
    """

    def __init__(
        self,
        url: str,
        threads: int = 1,
        retries: int = 4,
        pause_s: float = 0.05,
        timeout_s: float = 30.0,
    ) -> None:
        self.url, self.threads, self.retries = url, threads, retries
        self.pause_s, self.timeout_s = pause_s, timeout_s
        self._by_process: dict[int, Connections] = {}
        self._connections()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_by_process": {}}

    @cached_property
    def identity(self) -> Identity:
        """Size and tag of the object, asked for once: whoever reads another object later is told."""
        return _identity(self._answer(0, 1), self.url)

    @property
    def size(self) -> int:
        """Size of the object in bytes."""
        return self.identity.size

    def read_at(self, offset: int, length: int) -> bytes:
        """Return so many bytes.

        Raises:
            ValueError: They do not lie within the object.
            OSError: The server does not answer, also when asked again, or refuses; it says what to do.
        """
        if min(offset, length) < 0:
            raise outside(self.url, offset, length)
        body = b""
        while len(body) < length:
            part = self._answer(offset + len(body), offset + length).body
            if offset + length > self.size:
                raise outside(self.url, offset, length, self.size)
            body = part if not body else body + part
        return body

    def read_many(self, ranges: Ranges, gap: int | None = None) -> list[bytes]:
        """Return the bytes of ranges, in their order.

        Args:
            ranges: Offset and length of each.
            gap: Ranges between which at most so many bytes lie share a request; None for a request each.

        Raises:
            OSError: As of `read_at`; requests that have not begun are left out then.
        """
        for offset, length in ranges:
            if min(offset, length) < 0:
                raise outside(self.url, offset, length)
        if gap is None:
            return self._read_all(ranges)
        merged, part = coalesce(ranges, gap)
        bodies = self._read_all(merged.tolist())
        starts = [offset - int(merged[k, 0]) for (offset, _), k in zip(ranges, part, strict=True)]
        cuts = zip(starts, ranges, part, strict=True)
        return [bodies[k][start : start + length] for start, (_, length), k in cuts]

    def read_again(self, offset: int, length: int) -> bytes:
        """Return so many bytes whose checksum was wrong; a reader that keeps bytes asks the server again."""
        return self.read_at(offset, length)

    def close(self) -> None:
        """Close the connections of this process; the next read opens new ones."""
        if connections := self._by_process.pop(os.getpid(), None):
            connections.close()

    def _read_all(self, ranges: Ranges) -> list[bytes]:
        if self.threads == 1 or len(ranges) < 2:
            return [self.read_at(offset, length) for offset, length in ranges]
        with ThreadPoolExecutor(min(self.threads, len(ranges))) as pool:
            futures = [pool.submit(self.read_at, offset, length) for offset, length in ranges]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _answer(self, start: int, stop: int) -> Answer:
        """Return the first answer with some of these bytes."""
        reason, answer = "", None
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(self._pause(attempt, answer))
            try:
                answer = self._connections().get(start, stop)
            except (ConnectionError, TimeoutError) as error:
                reason, answer = str(error) or type(error).__name__, None
                continue
            if answer.status == HTTPStatus.PARTIAL_CONTENT and answer.body:
                return self._checked(answer, start, stop)
            if answer.status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                return answer  # it says how large the object is
            if answer.status not in (HTTPStatus.PARTIAL_CONTENT, *MAY_PASS):
                raise self._refused(answer)
            reason = f"status {answer.status}" if answer.status in MAY_PASS else "an empty body"
        raise OSError(
            errno.EIO,
            f"no bytes {start:,} to {stop:,} in {self.retries + 1} tries ({reason}): is the server there? "
            "If it is busy, use fewer threads or more retries",
            self.url,
        )

    def _checked(self, answer: Answer, start: int, stop: int) -> Answer:
        """Return an answer that is a part of the right object, and no more of it than asked for."""
        first = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
        if first != str(start):
            raise OSError(errno.EIO, f"the server sends other bytes than {start:,} to {stop:,}", self.url)
        if vars(self).setdefault("identity", found := _identity(answer, self.url)) != found:
            raise OSError(errno.ESTALE, "another object has this address now; open it again", self.url)
        return answer._replace(body=answer.body[: stop - start])

    def _refused(self, answer: Answer) -> OSError:
        status = answer.status
        if status == HTTPStatus.OK:
            return OSError(errno.EOPNOTSUPP, "the server sends no ranges; copy the object first", self.url)
        phrase = HTTPStatus(status).phrase if status in list(HTTPStatus) else "an unknown status"
        return OSError(ERRNO_OF.get(status, errno.EIO), f"status {status}, {phrase}", self.url)

    def _pause(self, attempt: int, answer: Answer | None) -> float:
        asked = answer.headers.get("Retry-After", "") if answer else ""
        pause: float = self.pause_s * 2 ** (attempt - 1)
        # Random, so that clients do not come back all at once; not from a generator of the training.
        pause *= random.SystemRandom().uniform(0.5, 1)
        return min(max(pause, float(asked) if asked.isdecimal() else 0), LONGEST_PAUSE)

    def _connections(self) -> Connections:
        """Return the connections of this process: those of a parent are not shared."""
        process = os.getpid()
        if process not in self._by_process:
            new = Connections(self.url, self.threads, self.timeout_s)
            self._by_process.setdefault(process, new)
        return self._by_process[process]


def _identity(answer: Answer, url: str) -> Identity:
    size = answer.headers.get("Content-Range", "").rpartition("/")[2]
    if not size.isdecimal():
        raise OSError(errno.EOPNOTSUPP, "the server does not say how large the object is; copy it first", url)
    return Identity(int(size), answer.headers["ETag"] or answer.headers["Last-Modified"] or "")

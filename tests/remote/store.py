"""A store as exercise 4 of lesson 07 describes it, on a real server: one request a call, no retries."""

import asyncio
import weakref
from concurrent.futures import ThreadPoolExecutor

from course_utils.remote.connections import Connections

MOST_AT_ALL, TIMEOUT_S = 64, 30.0
BUSY = 503


class Store:
    """Asks for ranges of one object; any thread or task may call it.

    Args:
        url: Address of the object.
        gap: What a request costs, in bytes.
        most: How many requests may be in flight; up to 64 are made, so that a record shows who exceeds it.
    """

    def __init__(self, url: str, gap: int = 100_000, most: int = 8) -> None:
        self.url, self.gap, self.most = url, gap, most
        self._connections = Connections(url, MOST_AT_ALL, TIMEOUT_S)
        self._threads = ThreadPoolExecutor(MOST_AT_ALL)  # starts them when they are needed
        weakref.finalize(self, self._threads.shutdown, wait=False)

    def get(self, start: int, stop: int) -> tuple[int, bytes]:
        """Ask for the bytes from `start` up to `stop`; return the status and the body.

        A connection that breaks counts as busy: status 503.
        """
        try:
            answer = self._connections.get(start, stop)
        except (ConnectionError, TimeoutError):
            return BUSY, b""
        return answer.status, answer.body

    async def get_async(self, start: int, stop: int) -> tuple[int, bytes]:
        """Do the same as `get`, while other tasks run."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.get, start, stop)

"""What an answer gets as its store, and how the probe calls the answer: in threads, with short sleeps."""

import asyncio
import contextlib
import inspect
import operator
import threading
import time
from asyncio import sleep as pause_task
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, TypedDict

from course_utils.checks.core import crash_report, type_name
from course_utils.checks.world.handle import Handle

PAUSE, SHORTEST = 0.004, 0.001  # seconds between two looks for an answer; of a sleep
_NEVER = threading.Event()  # waits, as `time.sleep` does, which cells replace


class EndlessRetriesError(BaseException):  # not an Exception: an answer may retry after all of those
    """The answer asks for the same range again and again."""


class Fetched(TypedDict, total=False):
    """What `fetch` returned, as plain data, or the error that it raised.

    `kind` is the type of what it returned, `other` the type of a first item that is no bytes.
    """

    kind: str
    samples: list[bytes]
    other: str
    error: str
    error_type: str
    os_error: bool


class Store:
    """A store that holds one object; any thread or task may ask it for a range of bytes.

    Args:
        world: Answers the requests.
        number: Number of the object there.
        gap: What a request costs, in bytes.
        most: How many requests may be in flight.
    """

    def __init__(self, world: Handle, number: int, gap: int, most: int) -> None:
        self._world, self._number = world, number
        self.gap, self.most = gap, most

    def get(self, start: int, stop: int) -> tuple[int, bytes]:
        """Ask for the bytes from `start` up to `stop`; return the status and the body."""
        ticket = self._begin(start, stop)
        while (answer := self._world.finish(ticket)) is None:
            _NEVER.wait(PAUSE)
        return answer[0], answer[1]

    async def get_async(self, start: int, stop: int) -> tuple[int, bytes]:
        """Do the same as `get`, while other tasks run."""
        ticket = self._begin(start, stop)
        while (answer := self._world.finish(ticket)) is None:
            await pause_task(PAUSE)
        return answer[0], answer[1]

    def _begin(self, start: int, stop: int) -> int:
        ticket: int | None = self._world.begin(self._number, operator.index(start), operator.index(stop))
        if ticket is None:
            raise EndlessRetriesError(f"bytes {start} to {stop} were asked for again and again")
        return ticket


def fetch_in_threads(fetch: Callable[..., Any], calls: Iterable[tuple[Store, list[Any]]]) -> list[Fetched]:
    """Call the answer for all stores at once, each in a thread, where no event loop of a notebook runs."""
    given = list(calls)
    found: list[Fetched] = [{} for _ in given]

    def call(place: int) -> None:
        try:
            found[place] = _described(_fetch(fetch, *given[place]))
        except BaseException as error:
            found[place] = {
                "error": crash_report(error),
                "error_type": type(error).__name__,
                "os_error": isinstance(error, OSError),
            }

    threads = [threading.Thread(target=call, args=(place,), daemon=True) for place in range(len(given))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def _fetch(fetch: Callable[..., Any], store: Store, ranges: list[Any]) -> object:
    loop = asyncio.new_event_loop()  # for answers that ask for the loop of their thread
    asyncio.set_event_loop(loop)
    try:
        result = fetch(store, ranges)
        return asyncio.run(_result(result)) if inspect.isawaitable(result) else result
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def _result(awaitable: Awaitable[object]) -> object:
    return await awaitable


def _described(result: Any) -> Fetched:  # noqa: ANN401 - whatever the student returns
    if isinstance(result, bytes | str | Mapping) or not isinstance(result, Iterable):
        return {"kind": type_name(result)}
    items = list(result)
    others = [type_name(item) for item in items if not isinstance(item, bytes | bytearray | memoryview)]
    if others:
        return {"kind": type_name(result), "other": others[0]}
    return {"kind": type_name(result), "samples": [bytes(item) for item in items]}


@contextlib.contextmanager
def probe_conditions(names: dict[str, Any]) -> Iterator[None]:
    """Shorten each sleep within the context, as an answer may wait before it asks again; silence threads.

    A verdict says what an error in a thread led to. Its traceback on standard error would cost points.

    Args:
        names: The global names of the answer.
    """
    real_sleep, real_pause, real_hook = time.sleep, asyncio.sleep, threading.excepthook

    def sleep(seconds: float) -> None:
        real_sleep(min(seconds, SHORTEST))

    async def pause(delay: float, result: object = None) -> object:
        return await real_pause(min(delay, SHORTEST), result)

    short: dict[Any, object] = {real_sleep: sleep, real_pause: pause}
    places = [
        (space, name, value)
        for space in (vars(time), vars(asyncio), vars(asyncio.tasks), names)
        for name, value in list(space.items())
        if value is real_sleep or value is real_pause
    ]
    for space, name, value in places:
        space[name] = short[value]
    threading.excepthook = lambda _: None
    try:
        yield
    finally:
        threading.excepthook = real_hook
        for space, name, value in places:
            space[name] = value

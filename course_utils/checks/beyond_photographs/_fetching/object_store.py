"""The world of `fetch_ranges`: a store that answers requests for ranges of objects, and its record.

Requests are in flight between `begin` and the call of `finish` that returns their answer. An answer that is
not ready yet is asked for again; how often decides when it is, so that nobody looks at a clock. A request
that is alone so far waits longer for another one: only who asks for one range at a time waits in vain.
"""

from dataclasses import dataclass

from course_utils.checks.beyond_photographs._fetching.drawn_objects import DrawnObject, Range
from course_utils.checks.core import Truth
from course_utils.checks.world.state import BaseWorld, served

SUCCESS, BUSY, OUTSIDE = 206, 503, 416
BUSY_BODY = b"busy: ask again"
TRIES = 40  # of one run, after which nothing is answered any more
# How often an answer is asked for: at least; while there is no second one; while one more would be too many.
FEW, ALONE, FULL = 3, 250, 25


@dataclass(frozen=True)
class Request:
    """One request, as it came.

    Attributes:
        start: First byte asked for.
        stop: The byte after the last.
        status: Of the answer.
        sent: Number of bytes of the object in the answer.
    """

    start: int
    stop: int
    status: int
    sent: int

    @property
    def failed(self) -> bool:
        """Whether bytes are missing."""
        return self.sent < self.stop - self.start

    def overlaps(self, run: Range) -> bool:
        """Return whether it asks for bytes of a run."""
        return self.start < run[1] and self.stop > run[0]


class StoredObject:
    """An object, and the requests for it in their order.

    Attributes:
        requests: All requests.
        most_in_flight: Most requests that were in flight at one time.
        endless: Whether a run was asked for without end.
    """

    def __init__(self, drawn: DrawnObject) -> None:
        self.drawn = drawn
        self.requests: list[Request] = []
        self.most_in_flight, self.endless = 0, False
        self._failures: list[list[str]] = [list(script) for script in drawn.failures]
        self._answers: dict[int, bytes] = {}  # of those in flight
        self._polls: dict[int, int] = {}
        self._held_alone = self._held_full = False

    def begin(self, ticket: int, start: int, stop: int) -> bool:
        """Take a request; False if the answer retries without end."""
        runs = self.drawn.runs
        run = next((k for k in range(len(runs)) if start < runs[k][1] and stop > runs[k][0]), None)
        self.endless |= run is not None and len(self.of_run(runs[run])) >= TRIES
        if self.endless:
            return False
        status, body = self._answer(start, stop, self._failures[run] if run is not None else [])
        self.requests.append(Request(start, stop, status, len(body) if status == SUCCESS else 0))
        self._answers[ticket], self._polls[ticket] = body, 0
        self.most_in_flight = max(self.most_in_flight, len(self._answers))
        return True

    def finish(self, ticket: int) -> bytes | None:
        """Return the body of an answer, or None while it is not ready."""
        self._polls[ticket] += 1
        if not self._ready(self._polls[ticket]):
            return None
        del self._polls[ticket]
        return self._answers.pop(ticket)

    def of_run(self, run: Range) -> list[Request]:
        """Return the requests that ask for bytes of a run."""
        return [request for request in self.requests if request.overlaps(run)]

    def _answer(self, start: int, stop: int, failures: list[str]) -> tuple[int, bytes]:
        if not 0 <= start < min(stop, len(self.drawn.content)):
            return OUTSIDE, b""
        failure = failures.pop(0) if failures else ""
        if failure == "busy":
            return BUSY, BUSY_BODY
        body = self.drawn.content[start:stop]
        return SUCCESS, body[: max(1, int(self.drawn.cut * len(body)))] if failure else body

    def _ready(self, polls: int) -> bool:
        if polls < FEW:
            return False
        if all(self.of_run(run) for run in self.drawn.runs):  # no other will come
            return True
        in_flight = len(self._answers)
        if self.most_in_flight == 1 and not self._held_alone:
            self._held_alone = polls >= ALONE
            return self._held_alone
        if in_flight == self.drawn.most and not self._held_full:
            self._held_full = polls >= FULL
            return self._held_full
        return True


class World(BaseWorld):
    """Objects by number, and who asked for which bytes of them."""

    def __init__(self, truth: Truth) -> None:
        self.objects = [StoredObject(drawn) for drawn in truth]
        self._tickets: list[tuple[StoredObject, int]] = []

    @served
    def begin(self, number: int, start: int, stop: int) -> int | None:
        """Take a request for bytes of an object; return its ticket, None if nothing is answered any more."""
        stored, ticket = self.objects[number], len(self._tickets)
        if not stored.begin(ticket, start, stop):
            return None
        self._tickets.append((stored, len(stored.requests) - 1))
        return ticket

    @served
    def finish(self, ticket: int) -> tuple[int, bytes] | None:
        """Return status and body of an answer; None while it is not ready."""
        stored, place = self._tickets[ticket]
        body = stored.finish(ticket)
        return None if body is None else (stored.requests[place].status, body)

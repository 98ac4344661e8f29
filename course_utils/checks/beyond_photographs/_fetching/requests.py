"""Whether the requests for an object are those that its samples need."""

from course_utils.checks.beyond_photographs._fetching.drawn_objects import Range
from course_utils.checks.beyond_photographs._fetching.object_store import (
    BUSY,
    BUSY_BODY,
    Request,
    StoredObject,
)
from course_utils.checks.beyond_photographs._fetching.store_client import Fetched
from course_utils.checks.core import Messages, value_of

mistake = Messages(__name__)
GIVES_UP = 5  # failures in a row


def expect_ranges(stored: StoredObject) -> None:
    """Check that each request asks for a run of near samples, or for what is missing of it.

    Raises:
        Mistake: One asks for more, for less, or for something else.
    """
    runs = stored.drawn.runs
    received = dict.fromkeys(runs, 0)
    starts, after_busy = {run: {run[0]} for run in runs}, {run: set[int]() for run in runs}
    again: list[Range] = []
    for request in stored.requests:
        met = [run for run in runs if request.overlaps(run)]
        run = met[0] if met else None
        if run is None or len(met) > 1 or request.stop != run[1] or request.start not in starts[run]:
            if run is not None and request.start in after_busy[run]:
                raise mistake("busy_taken_for_data")
            raise _other_range(stored, request, met)
        again += [run] * (received[run] == run[1] - run[0])
        end = request.start + request.sent
        received[run] = max(received[run], end - run[0])
        starts[run].add(end)
        if request.status == BUSY:
            after_busy[run].add(end + len(BUSY_BODY))
    for start, stop in again:
        raise mistake("asks_again", start=start, stop=stop)


def _other_range(stored: StoredObject, request: Request, met: list[Range]) -> Exception:
    drawn = stored.drawn
    named = {"start": request.start, "stop": request.stop, "gap": drawn.gap}
    if len(met) == len(drawn.runs):
        return mistake("fetches_everything", **named, bytes=sum(stop - start for start, stop in drawn.runs))
    if len(met) > 1:
        return mistake("fetches_large_gaps", **named, between=met[1][0] - met[0][1])
    samples = {(start, start + length) for start, length in drawn.ranges}
    if samples <= {(one.start, one.stop) for one in stored.requests}:
        return mistake("request_a_sample", samples=len(samples), runs=len(drawn.runs))
    starts, stops = ({one[side] for one in samples} for side in (0, 1))
    inside = met and request.start in starts and request.stop in stops
    if inside and request.start >= met[0][0] and request.stop <= met[0][1]:
        return mistake("near_ranges_apart", **named, first=met[0][0], last=met[0][1])
    if inside or not met:
        return mistake("other_range.nowhere", **named)
    return mistake("other_range.of_run", **named, first=met[0][0], last=met[0][1])


def expect_return(stored: StoredObject, found: Fetched) -> None:
    """Check that the answer returned bytes.

    Raises:
        Mistake: It raised an error, or returned something else.
    """
    if "error" in found:
        failures = [_failures(stored, run) for run in stored.drawn.runs if not _complete(stored, run)]
        if found.get("os_error") and 0 < max(failures, default=0) < GIVES_UP:
            raise mistake("gives_up_early", failures=max(failures), error=found["error"][:200])
        value_of({"error": found["error"]})
    if "other" in found:
        raise mistake("no_bytes.items", kind=found["kind"], other=found["other"])
    if "samples" not in found:
        raise mistake("no_bytes.whole", kind=found.get("kind", "nothing"))


def expect_complete(objects: list[StoredObject]) -> None:
    """Check that all samples were fetched to their ends.

    Raises:
        Mistake: The answer did not ask for a run, or did not ask again.
    """
    asked = [(run, stored.of_run(run)) for stored in objects for run in stored.drawn.runs]
    for (start, stop), requests in asked:
        if not requests:
            raise mistake("leaves_out", start=start, stop=stop)
    last = [requests[-1] for _, requests in asked if all(request.failed for request in requests)]
    if any(request.status == BUSY for request in last):
        raise mistake("busy_taken_for_data")
    for request in last:
        raise mistake("short_body_taken", asked=request.stop - request.start, sent=request.sent)


def expect_in_flight(stored: StoredObject) -> None:
    """Check how many requests were in flight.

    Raises:
        Mistake: Only one at a time, or too many.
    """
    found, most = stored.most_in_flight, stored.drawn.most
    wrong = {"too_many_in_flight": found > most, "one_at_a_time": found < 2}
    mistake.raise_first(wrong, found=found, most=most)


def _complete(stored: StoredObject, run: Range) -> bool:
    return any(not request.failed for request in stored.of_run(run))


def _failures(stored: StoredObject, run: Range) -> int:
    return sum(request.failed for request in stored.of_run(run))

"""Whether the samples are the bytes of their ranges, and when the answer gives up."""

from course_utils.checks.beyond_photographs._fetching.object_store import StoredObject
from course_utils.checks.beyond_photographs._fetching.requests import GIVES_UP
from course_utils.checks.beyond_photographs._fetching.store_client import Fetched
from course_utils.checks.core import Messages

mistake = Messages(__name__)


def expect_samples(objects: list[StoredObject], found: list[Fetched]) -> None:
    """Compare the samples of each object with its bytes.

    Raises:
        Mistake: They are others.
    """
    for place, (stored, one) in enumerate(zip(objects, found, strict=True)):
        samples, right = one["samples"], right_samples(stored)
        if samples == right:
            continue
        others = [other.drawn.content for k, other in enumerate(objects) if k != place]
        _expect_not_of(others, stored, samples)
        if len(samples) != len(right):
            raise mistake("other_count", found=len(samples), ranges=len(right))
        if sorted(samples) == sorted(right):
            raise mistake("other_order")
        wrong = [k for k, sample in enumerate(samples) if sample != right[k]]
        if all(_had_short_body(stored, k) and not _begins_right(samples[k], right[k]) for k in wrong):
            raise mistake("body_lost")
        raise _wrong_bytes(stored, wrong[0], samples[wrong[0]])


def right_samples(stored: StoredObject) -> list[bytes]:
    """Return the bytes of all ranges."""
    return [stored.drawn.content[start : start + length] for start, length in stored.drawn.ranges]


def _expect_not_of(others: list[bytes], stored: StoredObject, samples: list[bytes]) -> None:
    foreign = [one for one in samples if len(one) > 4 and one not in stored.drawn.content]
    if any(one in content for one in foreign for content in others):
        raise mistake("shared_between_calls")


def _had_short_body(stored: StoredObject, k: int) -> bool:
    start, _ = stored.drawn.ranges[k]
    run = next(run for run in stored.drawn.runs if run[0] <= start < run[1])
    return any(request.sent > 0 and request.failed for request in stored.of_run(run))


def _begins_right(sample: bytes, right: bytes) -> bool:
    return bool(sample) and (sample.startswith(right) or right.startswith(sample))


def _wrong_bytes(stored: StoredObject, k: int, sample: bytes) -> Exception:
    (start, length), at = stored.drawn.ranges[k], stored.drawn.content.find(sample) if sample else -1
    named = {"start": start, "length": length, "found": len(sample), "at": at}
    if len(sample) != length:
        return mistake("wrong_bytes.length", **named)
    return mistake("wrong_bytes.shifted" if at >= 0 else "wrong_bytes.scrambled", **named)


def expect_end_of_retries(stored: StoredObject, found: Fetched) -> None:
    """Check that the answer raises `OSError` after five failures of a request.

    Raises:
        Mistake: It goes on, ends earlier, or raises something else.
    """
    tries = max(len(stored.of_run(run)) for run in stored.drawn.runs)
    scripts = zip(stored.drawn.runs, stored.drawn.failures, strict=True)
    if "error" not in found and not any(stored.of_run(run) for run, script in scripts if script):
        raise mistake("shared_between_calls")
    if stored.endless:
        raise mistake("retries_without_end")
    if "error" not in found:
        raise mistake("no_error", tries=tries)
    if not found.get("os_error"):
        raise mistake("other_error", error=found["error"][:200])
    mistake.raise_first(
        {"gives_up_early.at_last": tries < GIVES_UP, "retries_too_often": tries > GIVES_UP}, tries=tries
    )

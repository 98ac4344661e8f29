"""The verdict on what interrupted processes left, and on processes that stage at once."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from course_utils.checks.core import Mistake
from course_utils.checks.many_nodes._staging.calls import BLOCKED, Outcome
from course_utils.checks.many_nodes._staging.copies import expect_again, expect_copy, first_changed


class Interrupted(TypedDict):
    """A call whose process could not write all, the files then, and a call after it."""

    first: Outcome
    left: dict[str, bytes]
    again: Outcome


def expect_killed(content: bytes, found: Interrupted) -> None:
    """Check what a killed process left, and the call after it."""
    _expect_no_half_copy(content, found, "The process was killed while it copied")
    if found["first"].get("error") is None:
        raise Mistake("no_evidence", "The check could not kill a process that was copying.")
    _expect_not_blocked(
        found["again"],
        "A process was killed while it copied, and the next call waits for it",
        "A file that means 'I am copying' outlives its process; a lock of fcntl.flock ends with it.",
    )
    expect_again(content, found["again"], "whose copy was interrupted, because the process was killed,")


def expect_failed(content: bytes, found: Interrupted) -> None:
    """Check a call on a full disk, and the call after it."""
    _expect_no_half_copy(content, found, "The disk was full")
    if found["first"].get("error") is None:
        raise Mistake(
            "hides_the_error",
            "The disk was full while your function copied, and it returned a path. Let the exception pass: "
            "there is no copy.",
        )
    _expect_not_blocked(
        found["again"],
        "A call ended with an exception, because the disk was full, and the next call of that process waits",
        "Release the lock also when an exception passes: close its file in `finally`, or use `with`.",
    )
    expect_again(content, found["again"], "whose copy was interrupted by a full disk")


def _expect_no_half_copy(content: bytes, found: Interrupted, when: str) -> None:
    again = found["again"]
    name = again["value"]["name"] if "value" in again else ""
    part = found["left"].get(name)
    if part is not None and part != content:
        raise Mistake(
            "half_copy",
            f"{when}, and now there is a file at the path of the copy ({name}) that holds {len(part):,} of "
            f"{len(content):,} bytes. Copy to another name in `scratch`, and rename the file when it is "
            "complete and checked: os.replace does that in one step.",
        )


def _expect_not_blocked(outcome: Outcome, when: str, remedy: str) -> None:
    if outcome.get("error") == BLOCKED:
        raise Mistake("stale_lock", f"{when}, although nobody is staging any more. {remedy}")


def expect_kept(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
    """Check that a process has left alone what another one was about to publish."""
    if name := first_changed(before, after):
        raise Mistake(
            "touches_others",
            f"A process was about to give its copy ({name}) the final name. Meanwhile another one staged "
            "another source, and changed or deleted this file. Do not clean up what other processes may "
            "be writing.",
        )


def expect_together(contents: list[bytes], calls: list[Outcome]) -> None:
    """Check calls of processes at once: the first one had not published its copy when the others came."""
    if len(calls) != len(contents):
        raise Mistake("no_evidence", "The check could not make all calls of your function.")
    for content, outcome in zip(contents, calls, strict=True):
        data = outcome["value"]["data"] if "value" in outcome else content
        if data != content:
            raise Mistake(
                "returns_too_early",
                "One process was copying, and meanwhile another call returned a path at which there was "
                f"{'no file' if data is None else f'a file of {len(data):,} other bytes'}. Wait for the "
                "process that copies, and return when the copy is complete.",
            )
        try:
            expect_copy(content, outcome)
        except Mistake as mistake:
            raise Mistake(
                "fails_together",
                "Two processes called your function at once for one source, and a third one for another "
                f"source. Not all of them got their copy. {mistake.message}",
            ) from mistake


def expect_at_once(marks: Sequence[tuple[int, str]], begins: Sequence[str], ends: Sequence[str]) -> None:
    """Check that calls were under way at the same time, each in a process of its own.

    Args:
        marks: Processes, and the names of the marks that they set, in order.
        begins: The marks that they set when the calls begin.
        ends: The same when they end.
    """
    first = dict[str, int]()
    for place, (_, name) in enumerate(marks):
        first.setdefault(name, place)
    if not {*begins, *ends} <= first.keys():
        raise Mistake("no_evidence", "The check could not make all calls of your function.")
    callers = [[marks[first[name]][0] for name in names] for names in (begins, ends)]
    late = max(first[name] for name in begins) > min(first[name] for name in ends)
    if late or callers[0] != callers[1] or len(set(callers[0])) < len(begins):
        raise Mistake(
            "no_evidence",
            "The check calls your function in several processes at the same time, but these calls came one "
            "after the other. Does your code change how processes are started, or wait?",
        )


def expect_one_copier(opened: int) -> None:
    """Check how often processes opened a source that they staged at once."""
    if opened > 1:
        raise Mistake(
            "every_rank_copies",
            f"Two processes called your function at once, and `source` was opened {opened} times. One "
            "process copies; the others wait for it (a lock of fcntl.flock does both), and look again "
            "whether there is a copy when they have the lock.",
        )


def expect_all_calls(openers: Mapping[str, int], least: int) -> None:
    """Check that processes have made the calls: each of them had to copy, and so to open the source."""
    if min(openers.values()) < least:
        raise Mistake(
            "no_evidence",
            "`source` was opened less often than the calls of this check need. Does each process that has to "
            "copy open it, at its path?",
        )

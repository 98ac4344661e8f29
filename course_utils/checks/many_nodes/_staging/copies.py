"""The verdict on the copies that calls of `stage` returned, one after the other."""

from collections.abc import Mapping
from typing import Literal, TypedDict

from course_utils.checks.core import Mistake, value_of
from course_utils.checks.many_nodes._staging.calls import BLOCKED, DIED, PUBLISHED, Outcome, Returned


class Repaired(TypedDict):
    """A call, what its copy was changed to, a call after that, and what a reader of the changed copy read."""

    first: Outcome
    changed: bytes
    again: Outcome
    reader: bytes


def expect_copy(content: bytes, outcome: Outcome) -> None:
    """Check that a call returned a file in `scratch` with this content."""
    match outcome.get("error"):
        case "blocked":
            raise Mistake(
                "waits_for_nobody",
                "Your function waits, although no other process is staging: it looks for the same thing "
                "again and again, sleeps, or waits for a lock that it holds itself. The check has ended it.",
            )
        case "died":
            raise Mistake(
                "no_answer",
                "The process that called your function has ended without returning, or did not return within "
                "half a minute. Return a path, or raise an exception.",
            )
    found: Returned = value_of(outcome)
    if found["kind"]:
        raise Mistake(
            "no_path",
            f"Your function returned an object of type {found['kind']}; it must return the path of the copy.",
        )
    if not found["name"] or found["link"]:
        raise Mistake(
            "not_in_scratch",
            "The path that your function returned is no file of its own in `scratch`. Readers must not go "
            "to the shared file system any more, so a link is no copy.",
        )
    if found["data"] is None:
        raise Mistake("no_file", "There is no file at the path that your function returned.")
    if found["data"] != content:
        raise Mistake(
            "other_bytes",
            f"The file that your function returned holds {len(found['data']):,} bytes that are not those of "
            f"`source`, which has {len(content):,}.",
        )


def expect_again(content: bytes, outcome: Outcome, when: str) -> None:
    """Check a call after something had gone wrong."""
    try:
        expect_copy(content, outcome)
    except Mistake as mistake:
        raise Mistake(
            "second_call_differs", f"A call for a source {when} does not work. {mistake.message}"
        ) from mistake


def expect_twins(contents: list[bytes], calls: list[list[Outcome]]) -> None:
    """Check calls in turn for two sources that have one name and one size."""
    if len(calls) != 2 or any(len(outcomes) != 2 for outcomes in calls):
        raise Mistake("no_evidence", "The check could not make all calls of your function.")
    for outcomes in calls:
        copies = [outcome["value"]["name"] for outcome in outcomes if "value" in outcome]
        if len(copies) == 2 and copies[0] == copies[1] != "":
            raise Mistake(
                "mixes_sources",
                "Two sources have the same name, in different folders, and your function returned the same "
                "path for both. Another job on this node may be reading it: let the name of the copy depend "
                "on the whole path of `source`, or on its checksum.",
            )
        for content, outcome in zip(contents, outcomes, strict=True):
            expect_copy(content, outcome)
    first, again = ([outcome["value"]["name"] for outcome in outcomes] for outcomes in calls)
    if first != again:
        raise Mistake(
            "copy_of_each_process",
            f"Two processes called your function for one source, one after the other, and got two copies, "
            f"{first[0]} and {again[0]}. Let the name of the copy depend on `source` or its checksum alone: "
            "hash() of a text differs in each process, and so does its number.",
        )


def expect_files(others: Mapping[str, bytes], found: Mapping[str, bytes]) -> None:
    """Check the files of other jobs, and the copies of other sources."""
    if name := first_changed(others, found):
        raise Mistake(
            "touches_others",
            f"`scratch` held {name}, which another job may use, and after your function had run it was "
            "gone or changed. Touch only files whose names you have made, and of which you know that no "
            "other process uses them.",
        )


def first_changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str | None:
    """Return the name of the first file that is gone or has other bytes; None if all are as they were."""
    return next((name for name, content in before.items() if after.get(name) != content), None)


def expect_repaired(content: bytes, found: Repaired, least: Literal["size", "checksum"]) -> None:
    """Check a call after the copy has been changed."""
    expect_copy(content, found["first"])
    again = found["again"]
    if "value" in again and again["value"]["data"] == found["changed"]:
        if least == "size":
            raise Mistake(
                "trusts_any_copy",
                f"The copy had been cut to {len(found['changed']):,} of {len(content):,} bytes, and your "
                "function returned it as it was. A file of that name, or a mark beside it, does not show "
                "that the bytes are there.",
            )
        raise Mistake(
            "trusts_the_size",
            "One bit of the copy had changed, and your function returned it as it was: the size is right, "
            "the bytes are not. Compare the SHA-256 of the copy with the one in the file beside `source`.",
        )
    expect_again(content, again, "whose copy has been damaged since the last call")
    if found["reader"] != found["changed"]:
        raise Mistake(
            "writes_over",
            "A process had opened the damaged copy before your function replaced it, and now reads something "
            "else: the new bytes were written into the old file. Write a new file, and rename it to the name "
            "of the copy; who has the old one open keeps it.",
        )


def expect_looked_at(content: bytes, again: Outcome) -> None:
    """Check the second call of a process, after the copy of the first one has been damaged."""
    if "value" in again and again["value"]["data"] != content:
        raise Mistake(
            "remembers",
            "A process called your function for one source twice. Between the calls, a bit of the copy "
            "changed, and the second one returned it as it was. Each call compares the copy with the "
            "checksum: keep no cache of results.",
        )
    expect_again(content, again, "for which the same process had called it before")


def expect_not_moved(calls: list[list[Outcome]]) -> None:
    """Check that the copies of the first calls were not moved from elsewhere."""
    for found in (outcome["value"] for outcome in calls[0]):
        if found["origin"]:
            raise Mistake(
                "moved_from_elsewhere",
                f"The copy was moved from {found['origin']}, which is outside `scratch`. Where that is on "
                "another file system, os.replace fails, and shutil.move copies under the final name. Put the "
                "temporary file into `scratch`, too.",
            )


def expect_published(calls: list[list[Outcome]]) -> None:
    """Check that the first calls wrote no copy under its name."""
    for found in (outcome["value"] for outcome in calls[0]):
        if found["grew"]:
            raise Mistake(
                "half_copy",
                f"The copy ({found['name']}) was written under its final name. Others take it for whole. "
                "Copy to another name in `scratch`, and rename the file when it is complete and checked.",
            )


def expect_refused(calls: list[Outcome]) -> None:
    """Check calls for a source that does not match its checksum."""
    for outcome in calls:
        if outcome.get("error") in (BLOCKED, DIED):
            expect_copy(b"", outcome)
        if outcome.get("error", "").endswith(PUBLISHED):
            raise Mistake(
                "publishes_unchecked",
                "The SHA-256 beside `source` was not that of its bytes. Your function raised an exception, "
                "but renamed or linked the copy before, and it is still there under this name. Compare "
                "first, then rename.",
            )
        if "value" in outcome:
            raise Mistake(
                "no_checksum",
                "The SHA-256 beside `source` was not that of its bytes, as when the file was damaged on its "
                "way, and your function returned a copy without an exception. Compare the checksum of what "
                "was copied before the copy gets its name, and raise an exception if it differs.",
            )
    if not calls:
        raise Mistake("no_evidence", "The check could not make all calls of your function.")


def expect_opened_once(opened: Mapping[str, int]) -> None:
    """Check how often the first call for each source opened it."""
    if max(opened.values()) > 1:
        raise Mistake(
            "reads_twice",
            f"To make one copy, `source` was opened {max(opened.values())} times. Its checksum is that of "
            "the file beside it: compare it with that of the copy, which is on this node.",
        )


def expect_not_opened(opened: Mapping[str, int]) -> None:
    """Check how often later calls for each source opened it."""
    if max(opened.values()) > 0:
        raise Mistake(
            "copies_again",
            "There was a whole copy in `scratch`, and your function opened `source` again. Return the copy: "
            "its size and its checksum show that it is whole.",
        )

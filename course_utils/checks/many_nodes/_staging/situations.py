"""The situations in which the check of `stage` calls it: interrupted, repeated, and several times at once."""

import contextlib
import io
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import IO

from course_utils.checks.core import FileRecorder
from course_utils.checks.many_nodes._staging.calls import (
    DIED,
    Outcome,
    Stage,
    call_in_turn,
    call_killed,
    call_on_full_disk,
    call_twice,
    paused_call,
)
from course_utils.checks.many_nodes._staging.copies import Repaired
from course_utils.checks.many_nodes._staging.faults import Interrupted
from course_utils.checks.many_nodes._staging.moments import Moment

STAGED = "staged"
Arguments = tuple[Path, Path]  # source and scratch


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files below a folder, by relative path."""
    paths = [Path(place) / name for place, _, names in os.walk(folder) for name in names]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


def interrupt(
    stage: Stage, arguments: Mapping[str, Arguments], limits: Mapping[str, int], killed: Collection[str]
) -> dict[str, Interrupted]:
    """Stop a call for each source, and make it again.

    Args:
        stage: The student's function.
        arguments: Of each call, by the name of the source.
        limits: Bytes that each call can write into a file.
        killed: The calls whose process is killed there; in others writing fails, and the process goes on.
    """
    return {
        name: (_killed if name in killed else _failed)(stage, *both, limits[name])
        for name, both in arguments.items()
    }


def _killed(stage: Stage, source: Path, scratch: Path, limit: int) -> Interrupted:
    first = call_killed(stage, source, scratch, limit)
    left = files_below(scratch)
    [again] = call_in_turn(stage, [(source, scratch)])
    return {"first": first, "left": left, "again": again}


def _failed(stage: Stage, source: Path, scratch: Path, limit: int) -> Interrupted:
    found = call_on_full_disk(stage, source, scratch, limit, lambda: files_below(scratch))
    first, left, again = found or ({"error": DIED}, files_below(scratch), {"error": DIED})
    return {"first": first, "left": left, "again": again}


def repeat(
    stage: Stage,
    files: FileRecorder,
    arguments: Mapping[str, Arguments],
    changes: Mapping[str, Callable[[bytes], bytes]],
) -> tuple[list[dict[str, Outcome]], dict[str, Repaired]]:
    """Make calls in one process, change some copies, and make the same calls in another process.

    Args:
        stage: The student's function.
        files: Where the mark `STAGED` is left between the two processes.
        arguments: Of each call, by the name of the source.
        changes: What a copy's bytes become, by the name of the source.

    Returns:
        The outcomes in each process, and what became of the changed copies.
    """
    first = dict(zip(arguments, call_in_turn(stage, list(arguments.values())), strict=True))
    files.mark(STAGED)
    with contextlib.ExitStack() as copies:
        readers = {
            name: copies.enter_context(_changed(first[name], arguments[name][1], change))
            for name, change in changes.items()
        }
        again = dict(zip(arguments, call_in_turn(stage, list(arguments.values())), strict=True))
        repaired: dict[str, Repaired] = {
            name: {"first": first[name], "changed": changed, "again": again[name], "reader": reader.read()}
            for name, (changed, reader) in readers.items()
        }
    return [first, again], repaired


def repeat_in_process(stage: Stage, source: Path, scratch: Path, change: Callable[[bytes], bytes]) -> Outcome:
    """Call, change the copy, call again in the same process; return the second outcome, or a failed first."""
    outcomes = call_twice(stage, source, scratch, lambda first: _changed(first, scratch, change))
    if outcomes is None:
        return {"error": DIED}
    first, again = outcomes
    return first if "error" in first else again


@contextlib.contextmanager
def _changed(
    staged: Outcome, scratch: Path, change: Callable[[bytes], bytes]
) -> Iterator[tuple[bytes, IO[bytes]]]:
    """Change a copy behind the back of the student's function; yield its new bytes, and the open file."""
    copy = scratch / staged["value"]["name"] if "value" in staged else scratch
    if not copy.is_file() or not copy.resolve().is_relative_to(scratch):
        yield b"", io.BytesIO()
        return
    changed, status = change(copy.read_bytes()), copy.stat()
    copy.chmod(0o600)
    copy.write_bytes(changed)
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))  # as when a disk loses bits
    with copy.open("rb") as reader:
        yield changed, reader


def call_together(
    stage: Stage, files: FileRecorder, source: Path, scratch: Path, other: Path
) -> tuple[list[Outcome], dict[str, bytes], dict[str, bytes]]:
    """Let one process pause before it publishes its copy; two more come and may wait for it; all continue.

    Args:
        stage: The student's function.
        files: Where each process leaves the marks of `call_mark`.
        source: The source of the first two processes.
        scratch: Where all of them stage.
        other: The source of the third one.

    Returns:
        The outcomes, the files when the first process paused, and those when the others had come.
    """
    with contextlib.ExitStack() as processes:

        def start(number: int, path: Path, moment: Moment) -> Callable[[], Outcome]:
            def tell(what: str) -> None:
                files.mark(call_mark(number, what))

            return processes.enter_context(paused_call(stage, path, scratch, moment, tell))

        calls = [start(0, source, "publish")]
        before = files_below(scratch)
        calls += [start(1, source, "wait"), start(2, other, "wait")]
        after = files_below(scratch)
        return [finish() for finish in calls], before, after


def call_mark(number: int, what: str) -> str:
    """Return the mark that a process leaves when its call begins or ends (`BEGINS`, `ENDS`)."""
    return f"call-{number}-{what}"


def flip_bit(content: bytes, place: int) -> bytes:
    """Return the bytes with one changed bit in the byte at `place`."""
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]

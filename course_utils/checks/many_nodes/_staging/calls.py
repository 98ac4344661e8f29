"""Call the student's `stage` in processes that are paused, limited or killed at chosen moments.

The moments are those of `moments`, and the kernel's limit to the size of a file; nothing looks at a clock.
"""

import contextlib
import os
import resource
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypedDict, TypeVar

from course_utils.checks.core import AttemptOf, attempt, salted_hash, type_name
from course_utils.checks.many_nodes._staging.moments import BlockedError, Moment, Watch
from course_utils.system import ChildDiedError, in_child, waiting_child

BLOCKED, DIED = "blocked", "died"
PUBLISHED = " (and a copy has got its name)"  # ends the error of such a call
BEGINS, ENDS = "begins", "ends"
_PATIENCE = 30  # seconds until the kernel ends a process that waits where nothing sees it
_UNSEEN = 6  # seconds after which a process counts as waiting, as for a lock that another program takes
Stage = Callable[..., object]
Seen = TypeVar("Seen")


class Returned(TypedDict):
    """What a call returned.

    Attributes:
        kind: The type of what is no path; empty for a path.
        name: The path below `scratch`; empty for any other path.
        link: Whether it is a link, or leads out of `scratch`.
        data: The bytes of the file, when the call returned; None if there is none.
        origin: From where outside `scratch` the call has moved it; empty if it has not.
        grew: Whether the call wrote the file under this name.
    """

    kind: str
    name: str
    link: bool
    data: bytes | None
    origin: str
    grew: bool


Outcome = AttemptOf[Returned]  # the error is `BLOCKED`, `DIED`, or one line about an exception


def call_in_turn(stage: Stage, arguments: Sequence[tuple[Path, Path]]) -> list[Outcome]:
    """Make calls in one process while no other one is staging: it has nobody to wait for."""
    try:
        return in_child(lambda: [_call(stage, source, scratch) for source, scratch in arguments])
    except ChildDiedError:
        return [{"error": DIED} for _ in arguments]


def call_killed(stage: Stage, source: Path, scratch: Path, limit: int) -> Outcome:
    """Call in a process that the kernel kills when one of its files grows beyond a limit in bytes."""

    def limited() -> Outcome:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with _files_up_to(limit, signal.SIG_DFL):
            return _call(stage, source, scratch)

    return _outcome(partial(in_child, limited))


def call_on_full_disk(
    stage: Stage, source: Path, scratch: Path, limit: int, look: Callable[[], Seen]
) -> tuple[Outcome, Seen, Outcome] | None:
    """Make two calls in one process; in the first one, no file can grow beyond a limit in bytes.

    Returns:
        The outcome of the first call, what `look` saw then, and the outcome of the second call; None if the
        process died.
    """

    def both() -> tuple[Outcome, Seen, Outcome]:
        with _files_up_to(limit, signal.SIG_IGN):
            first = _call(stage, source, scratch)
        return first, look(), _call(stage, source, scratch)

    try:
        return in_child(both)
    except ChildDiedError:
        return None


def call_twice(
    stage: Stage,
    source: Path,
    scratch: Path,
    between: Callable[[Outcome], contextlib.AbstractContextManager[object]],
) -> tuple[Outcome, Outcome] | None:
    """Make two calls in one process, the second one within a context; None if the process died."""

    def both() -> tuple[Outcome, Outcome]:
        first = _call(stage, source, scratch)
        with between(first):
            return first, _call(stage, source, scratch)

    try:
        return in_child(both)
    except ChildDiedError:
        return None


@contextlib.contextmanager
def paused_call(
    stage: Stage, source: Path, scratch: Path, moment: Moment, tell: Callable[[str], object]
) -> Iterator[Callable[[], Outcome]]:
    """Call in a process that pauses once; the context begins when it does, has returned, or waits unseen.

    Args:
        stage: The student's function.
        source: Its first argument.
        scratch: Its second argument.
        moment: Before it renames or links a file, or when it waits for another process.
        tell: Called with `BEGINS` and `ENDS` in that process, before the call, and after it and the pause.

    Yields:
        A function that lets the process continue, and returns the outcome.
    """

    def call_and_pause(wait: Callable[[], bytes]) -> Outcome:
        waited: list[bytes] = []

        def pause() -> None:
            if not waited:
                waited.append(wait())

        tell(BEGINS)
        outcome = _call(stage, source, scratch, {moment: pause})
        pause()
        tell(ENDS)
        return outcome

    with waiting_child(call_and_pause, _UNSEEN) as send:
        yield partial(_outcome, partial(send, b""))


@contextlib.contextmanager
def _files_up_to(limit: int, then: signal.Handlers) -> Iterator[None]:
    signal.signal(signal.SIGXFSZ, then)
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


def _outcome(call: Callable[[], Outcome]) -> Outcome:
    try:
        return call()
    except ChildDiedError:
        return {"error": DIED}


def _call(
    stage: Stage,
    source: Path,
    scratch: Path,
    at: Mapping[Moment, Callable[[], object]] = MappingProxyType({}),
) -> Outcome:
    signal.alarm(_PATIENCE)
    watch = Watch(at)
    watch.replace_sleep(getattr(stage, "__globals__", {}))
    try:
        with watch.watching(), salted_hash(os.getpid()):  # each process has a hash of its own
            called = attempt(lambda: stage(source, scratch))
    except BlockedError:
        return {"error": BLOCKED}
    if "error" in called:
        size = source.stat().st_size
        is_there = any(new.is_file() and new.stat().st_size == size for _, new in watch.published)
        return {"error": called["error"] + PUBLISHED * is_there}
    return {"value": _describe(called["value"], scratch, watch)}


def _describe(value: object, scratch: Path, watch: Watch) -> Returned:
    if not isinstance(value, str | os.PathLike):
        return {
            "kind": type_name(value),
            "name": "",
            "link": False,
            "data": None,
            "origin": "",
            "grew": False,
        }
    path = Path(os.fsdecode(value)).absolute()
    inside = path.is_relative_to(scratch) and path != scratch
    link = path.is_symlink() or not path.resolve().is_relative_to(scratch.resolve())
    data = path.read_bytes() if path.is_file() else None
    origins = [str(old) for old, new in watch.published if new == path and not old.is_relative_to(scratch)]
    return {
        "kind": "",
        "name": str(path.relative_to(scratch)) if inside else "",
        "link": link,
        "data": data,
        "origin": origins[-1] if origins else "",
        "grew": path in watch.created,
    }

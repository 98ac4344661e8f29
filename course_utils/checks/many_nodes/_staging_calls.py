"""Call the student's `stage` in processes that are paused, limited or killed at chosen moments.

The moments are audit events of Python and the kernel's limit to the size of a file; nothing looks at a clock.
"""

import contextlib
import fcntl
import os
import resource
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypedDict

from course_utils.checks.core import AttemptOf, attempt, type_name
from course_utils.system import ChildDiedError, in_child, waiting_child

BLOCKED, DIED = "blocked", "died"
BEGINS, ENDS = "begins", "ends"
SLEEPS, REPEATS = 10, 50  # after so many, a process is waiting for another one
_PATIENCE = 30  # seconds until the kernel ends a process that waits where nothing sees it
Stage = Callable[..., object]
Moment = Literal["publish", "wait"]


class Returned(TypedDict):
    """What a call returned.

    Attributes:
        kind: The type of what is no path; empty for a path.
        name: The path below `scratch`; empty for any other path.
        link: Whether it leads somewhere else.
        data: The bytes of the file, when the call returned; None if there is none.
    """

    kind: str
    name: str
    link: bool
    data: bytes | None


Outcome = AttemptOf[Returned]  # the error is `BLOCKED`, `DIED`, or one line about an exception


def call_in_turn(stage: Stage, arguments: Sequence[tuple[Path, Path]]) -> list[Outcome]:
    """Make calls in one process while no other one is staging: it has nobody to wait for."""
    try:
        return in_child(lambda: [_call(stage, source, scratch) for source, scratch in arguments])
    except ChildDiedError:
        return [{"error": DIED} for _ in arguments]


def call_limited(stage: Stage, source: Path, scratch: Path, limit: int, kill: bool) -> Outcome:
    """Call in a process whose files may not grow beyond a limit.

    Args:
        stage: The student's function.
        source: Its first argument.
        scratch: Its second argument.
        limit: Bytes.
        kill: Whether the kernel kills the process there; else writing fails, as on a full disk.
    """

    def limited() -> Outcome:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if kill else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return _call(stage, source, scratch)

    return _outcome(partial(in_child, limited))


@contextlib.contextmanager
def paused_call(
    stage: Stage, source: Path, scratch: Path, moment: Moment, tell: Callable[[str], object]
) -> Iterator[Callable[[], Outcome]]:
    """Call in a process that pauses once; the context begins when it does, or has returned.

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

    with waiting_child(call_and_pause) as send:
        yield partial(_outcome, partial(send, b""))


def _outcome(call: Callable[[], Outcome]) -> Outcome:
    try:
        return call()
    except ChildDiedError:
        return {"error": DIED}


class _BlockedError(BaseException):  # not an Exception: an answer may catch all of those
    """The process waits for another one, and there is none."""


def _call(
    stage: Stage,
    source: Path,
    scratch: Path,
    at: Mapping[Moment, Callable[[], object]] = MappingProxyType({}),
) -> Outcome:
    signal.alarm(_PATIENCE)
    watch = _Watch(at)
    watch.replace_sleep(getattr(stage, "__globals__", {}))
    try:
        with watch.watching():
            called = attempt(lambda: stage(source, scratch))
    except _BlockedError:
        return {"error": BLOCKED}
    return {"error": called["error"]} if "error" in called else {"value": _describe(called["value"], scratch)}


def _describe(value: object, scratch: Path) -> Returned:
    if not isinstance(value, str | os.PathLike):
        return {"kind": type_name(value), "name": "", "link": False, "data": None}
    path = Path(os.fsdecode(value)).absolute()
    inside = path.is_relative_to(scratch) and path != scratch
    link = not path.resolve().is_relative_to(scratch.resolve())
    data = path.read_bytes() if path.is_file() else None
    return {"kind": "", "name": str(path.relative_to(scratch)) if inside else "", "link": link, "data": data}


def _end() -> None:
    raise _BlockedError


class _Watch:
    """Calls functions at moments of this process, each once.

    Args:
        at: The functions. A process that waits for another one although it has none for this is ended.
    """

    def __init__(self, at: Mapping[Moment, Callable[[], object]]) -> None:
        self._at = dict(at)
        self._counts: Counter[tuple[str, str]] = Counter()
        self._active = False

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch within the context; the hook stays, as the process ends soon."""
        sys.addaudithook(self._hook)
        real = {name: getattr(os, name) for name in ("stat", "lstat", "access")}
        for name, function in real.items():
            setattr(os, name, self._counted(function))
        self._active = True
        try:
            yield
        finally:
            self._active = False
            for name, function in real.items():
                setattr(os, name, function)

    def replace_sleep(self, names: dict[str, object]) -> None:
        """Count and shorten each sleep: events decide how long an answer waits, not seconds."""
        clock = sys.modules["time"]  # not imported: checks look at no clock
        real = clock.sleep

        def sleep(seconds: float) -> None:
            self._count("sleep", "", SLEEPS)
            real(min(seconds, 0.001))

        for space in (vars(clock), names):
            space.update({name: sleep for name, value in space.items() if value is real})

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def look(path: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the original
            self._count("look", path, REPEATS)
            return function(path, *args, **kwargs)

        return look

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._active:
            return
        if event in ("fcntl.flock", "fcntl.lockf"):
            self._lock(event, args)
        elif event in ("os.rename", "os.link"):
            self._reach("publish")
        elif event == "open":
            self._count(event, args[0], REPEATS)

    def _count(self, event: str, path: object, limit: int) -> None:
        if not self._active:
            return
        self._counts[event, str(path)] += 1
        if self._counts[event, str(path)] >= limit:
            self._counts.clear()
            self._reach("wait")

    def _lock(self, event: str, args: tuple[Any, ...]) -> None:
        """Take the lock first, in steps: a process that would be blocked by it is waiting for another one."""
        descriptor, operation, *rest = (arg or 0 for arg in args)
        take = getattr(fcntl, event.removeprefix("fcntl."))
        self._count(event, "", REPEATS)
        while not operation & (fcntl.LOCK_NB | fcntl.LOCK_UN):
            self._active = False
            try:
                take(descriptor, operation | fcntl.LOCK_NB, *rest)
                return
            except OSError:
                self._reach("wait")
            finally:
                self._active = True

    def _reach(self, moment: Moment) -> None:
        function = self._at.pop(moment, _end if moment == "wait" else None)
        self._active = False
        try:
            if function is not None:
                function()
        finally:
            self._active = True

"""Moments of a process that stages: before it publishes a file, or when it waits for another process.

They are audit events of Python, repeated looks at a file, and sleeps; nothing looks at a clock. The events
also tell which files got a name by a rename or a link, and which were written under theirs.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

SLEEPS, REPEATS = 10, 50  # after so many, a process is waiting for another one
Moment = Literal["publish", "wait"]


class BlockedError(BaseException):  # not an Exception: an answer may catch all of those
    """The process waits for another one, and there is none."""


class Watch:
    """Calls functions at moments of this process, each once.

    Args:
        at: The functions. A process that waits for another one although it has none for this is ended.

    Attributes:
        published: Pairs of the old and the new path of each file that was renamed or linked.
        created: The paths at which a file was opened for writing and did not exist before.
    """

    def __init__(self, at: Mapping[Moment, Callable[[], object]]) -> None:
        self._at = dict(at)
        self._counts: Counter[tuple[str, str]] = Counter()
        self._active = False
        # No sets: the hash of a path is another one while a call is watched.
        self.published, self.created = list[tuple[Path, Path]](), list[Path]()

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
        real = time.sleep

        def sleep(seconds: float) -> None:
            self._count("sleep", "", SLEEPS)
            real(min(seconds, 0.001))

        for space in (vars(time), names):
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
            self.published.append((_path(args[0]), _path(args[1])))
            self._reach("publish")
        elif event == "open":
            self._note_created(args[0], args[2])
            self._count(event, args[0], REPEATS)

    def _note_created(self, path: object, flags: int) -> None:
        if not isinstance(path, int) and flags & os.O_CREAT:
            self._active = False
            try:
                if not _path(path).exists():
                    self.created.append(_path(path))
            finally:
                self._active = True

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


def _path(path: Any) -> Path:  # noqa: ANN401 - whatever Python opens
    return Path(os.fsdecode(path)).absolute()


def _end() -> None:
    raise BlockedError

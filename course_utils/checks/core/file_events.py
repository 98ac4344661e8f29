"""What processes did with the files of a check, as `file_recorder` saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NamedTuple

Kind = Literal["open", "read", "pread", "map", "close", "list", "look", "run", "mark"]

USES: tuple[Kind, ...] = ("open", "read", "pread", "map")  # of a file


class Usage(NamedTuple):
    """How many bytes a process has read from files and pipes until a moment, and written to them."""

    read: int
    written: int

    def since(self, earlier: Usage) -> Usage:
        """Return what was used after an earlier moment."""
        return Usage(self.read - earlier.read, self.written - earlier.written)


class FileEvent(NamedTuple):
    """One operation.

    Attributes:
        process: Number of the process.
        kind: `open` a file; `read` at the position that all holders of a handle share; `pread` at a position
            of the caller's own; `map` a file into memory; `close` a handle for the last time; `list` a
            folder; `look` up a name without opening it (stat, access, exists); `run` a command; `mark`: the
            check itself names a moment.
        name: Path relative to the folder of the check, empty for that folder; of a mark, its name.
        handle: The open file description that is opened, read or closed; processes may share one.
        used: What the process had used at a mark; None where the system does not tell.
    """

    process: int
    kind: Kind
    name: str
    handle: int = 0
    used: Usage | None = None


class Sharing(NamedTuple):
    """A handle through which a second process read at the position that the first had left."""

    name: str
    owner: int
    reader: int


class MarkError(ValueError):
    """A mark of the check is not there exactly once: code beside the check has set or suppressed one."""


class FileActivity:
    """Questions to ask about the events of a check.

    A question about a mark raises `MarkError` unless the mark is among the events exactly once.

    Args:
        events: In the order in which they happened.
    """

    def __init__(self, events: Iterable[FileEvent]) -> None:
        self.events = list(events)

    def processes(self) -> list[int]:
        """Return the processes in the order of their first operation."""
        return list(dict.fromkeys(event.process for event in self.events if event.kind != "close"))

    def marked(self, name: str) -> int:
        """Return the process that set a mark."""
        return self.events[self._place(name)].process

    def before(self, name: str) -> FileActivity:
        """Return what happened before a mark."""
        return FileActivity(self.events[: self._place(name)])

    def after(self, name: str) -> FileActivity:
        """Return what happened after a mark."""
        return FileActivity(self.events[self._place(name) + 1 :])

    def used_between(self, start: str, end: str) -> Usage | None:
        """Return what a process used between two marks; None if it is not known."""
        first, last = self.used_by(start), self.used_by(end)
        if first is None or last is None:
            return None
        return last.since(first)

    def used_by(self, moment: str) -> Usage | None:
        """Return what a process had used at a mark, since it was forked; None if it is not known."""
        return self.events[self._place(moment)].used

    def _place(self, name: str) -> int:
        marks = [k for k, event in enumerate(self.events) if (event.kind, event.name) == ("mark", name)]
        if len(marks) != 1:
            raise MarkError(f"the check's mark {name!r} was seen {len(marks)} times, not once")
        return marks[0]

    def of(self, *processes: int | None) -> FileActivity:
        """Return what some processes did."""
        return FileActivity(event for event in self.events if event.process in processes)

    def count(self, *kinds: Kind) -> Counter[str]:
        """Count the operations of some kinds by name."""
        return Counter(event.name for event in self.events if event.kind in kinds)

    def shared(self) -> list[Sharing]:
        """Find the handles that a process read at the shared position after another process had done so."""
        last: dict[int, int] = {}
        found = []
        for event in self.events:
            if event.kind == "read":
                owner = last.setdefault(event.handle, event.process)
                if owner != event.process:
                    found.append(Sharing(event.name, owner, event.process))
                last[event.handle] = event.process
        return found

    def left_open(self, process: int | None) -> list[str]:
        """Return the names of the handles that a process opened and that were not closed.

        A file that is only mapped into memory holds its handle as long as the map; it does not count.
        """
        closed = {event.handle for event in self.events if event.kind == "close"}
        used = {event.handle for event in self.events if event.kind in ("read", "pread")} - closed
        return [
            event.name for event in self.of(process).events if event.kind == "open" and event.handle in used
        ]

"""What processes did with the files of a check, as the kernel or a recorder in the process saw it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["open", "read", "pread", "map", "close", "list", "look", "run"]

USES: tuple[Kind, ...] = ("open", "read", "pread", "map")  # of a file, of which the kernel tells the size

# With a mark of such a name, a process asks for its use of memory and files to be measured.
MEASURE = "mark-measure-"


class Usage(NamedTuple):
    """What a process and its ended children have used until a moment, in bytes; None where it is unknown.

    Attributes:
        copied: Memory that they have allocated, or copied on write.
        read: Bytes read from files and pipes.
        written: Bytes written to them.
        parents: Memory that the processes from which it descends have allocated, or copied on write.
        others: Private memory of all further processes beside the student's.
        stored: Bytes in the files that these processes can write, in memory or in a file system, with 1 KiB
            for each name.
        in_files: The same, of the file systems that are not for shared memory.
        touched: Memory that the process alone has used for the first time or copied, also where it was freed.
        others_read: Bytes that all further processes beside the student's have read from files and pipes.
        queued: Bytes that wait in sockets and pipes of all these processes.
    """

    copied: int | None
    read: int
    written: int
    parents: int | None = None
    others: int | None = None
    stored: int | None = None
    touched: int | None = None
    others_read: int | None = None
    queued: int | None = None
    in_files: int | None = None

    def since(self, earlier: Usage) -> Usage:
        """Return what was used after an earlier moment."""
        both = zip(self, earlier, strict=True)
        return Usage._make(now - then if now is not None and then is not None else None for now, then in both)


class FileEvent(NamedTuple):
    """One operation.

    Attributes:
        process: Number of the process.
        kind: `open` a file; `read` at the position that all holders of a handle share; `pread` at a position
            of the caller's own; `map`: a page of a memory map was needed; `close` a handle for the last time;
            `list` a folder; `look` up a name without opening it (stat, access, exists); `run` a command.
        name: Path relative to the folder of the check; empty for that folder.
        handle: The open file description that is opened, read or closed; processes may share one.
        used: What the process had used by then, where that was measured.
        size: How many bytes of the file it got; None where that is unknown.
    """

    process: int
    kind: Kind
    name: str
    handle: int = 0
    used: Usage | None = None
    size: int | None = None


@dataclass(frozen=True)
class SeenFiles:
    """What was done with the files of a check, seen from outside the student's process.

    Attributes:
        events: All operations; None where the kernel does not tell.
        opened: How often each file was opened, at least, where the kernel tells no more than that.
        complete: Whether all operations are among the events; not where there were too many.
    """

    events: list[FileEvent] | None = None
    opened: dict[str, int] = field(default_factory=dict)
    complete: bool = True


class Sharing(NamedTuple):
    """A handle through which a second process read at the position that the first had left."""

    name: str
    owner: int
    reader: int


class MarkError(ValueError):
    """A mark of the check is not there exactly once: code beside the check has set or suppressed one."""


class FileActivity:
    """Questions to ask about the events of a check.

    A question about a mark raises `MarkError` unless the mark (see `mark`) is among the events exactly once.

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

    def most_after(self, start: str, kind: Literal["stored", "in_files"]) -> int:
        """Return how much more was stored at any measured moment than at a mark; see `Usage`."""
        used = [self.used_by(start), *(event.used for event in self.after(start).events)]
        sizes = [None if one is None else getattr(one, kind) for one in used]
        known = [size for size in sizes if size is not None]
        return max(known) - sizes[0] if sizes[0] is not None else 0

    def _place(self, name: str) -> int:
        looks = [k for k, event in enumerate(self.events) if (event.kind, event.name) == ("look", name)]
        if len(looks) != 1:
            raise MarkError(f"the check's mark {name!r} was seen {len(looks)} times, not once")
        return looks[0]

    def of(self, *processes: int | None) -> FileActivity:
        """Return what some processes did."""
        return FileActivity(event for event in self.events if event.process in processes)

    def count(self, *kinds: Kind) -> Counter[str]:
        """Count the operations of some kinds by name."""
        return Counter(event.name for event in self.events if event.kind in kinds)

    def bytes_read(self, name: str) -> int | None:
        """Return how many bytes of a file were read; None where that is unknown."""
        sizes = [event.size for event in self.events if event.name == name and event.kind in USES]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

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

"""Count what code does with the files in one folder, by Python's audit events."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

EVENT_KINDS = {"open": "open", "os.listdir": "list", "os.scandir": "list"}
EVENT_KINDS |= {"subprocess.Popen": "process", "os.system": "process", "os.posix_spawn": "process"}
_recorders: list[tuple[str, list[list[str]]]] = []
_hooked: list[bool] = []


@contextmanager
def record_file_events(folder: Path) -> Iterator[list[list[str]]]:
    """Record what this process does with a folder and the files directly in it.

    Yields:
        A growing list of ``[kind, file name]``; kinds are open, list, stat and process (any command started).
    """
    if not _hooked:
        # An audit hook cannot be removed: there is one, and it returns at once while nothing is recorded.
        sys.addaudithook(_hook)
        _hooked.append(True)
    events: list[list[str]] = []
    real_stat = os.stat
    _recorders.append((str(folder), events))
    os.stat = _recording(real_stat)  # stat raises no audit event
    try:
        yield events
    finally:
        os.stat = real_stat
        _recorders.pop()


def _hook(event: str, args: tuple[object, ...]) -> None:
    if _recorders and event in EVENT_KINDS:
        _record(EVENT_KINDS[event], args[0] if args else None)


def _record(kind: str, path: object) -> None:
    folder, events = _recorders[-1]
    if kind == "process":
        events.append([kind, ""])
    elif isinstance(path, str | bytes | os.PathLike):
        absolute = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - may not touch the file system
        if absolute == folder or os.path.dirname(absolute) == folder:  # noqa: PTH120
            events.append([kind, os.path.basename(absolute) if absolute != folder else ""])  # noqa: PTH119


def _recording(real_stat: Callable[..., os.stat_result]) -> Any:  # noqa: ANN401 - replaces os.stat
    def stat(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:  # noqa: ANN401
        _record("stat", path)
        return real_stat(path, *args, **kwargs)

    return stat

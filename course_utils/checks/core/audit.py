"""Count what code does with the files of one folder: opening, listing, looking; by Python's audit events."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KINDS = {"open": "open", "os.listdir": "list", "os.scandir": "list"}
KINDS |= {"subprocess.Popen": "process", "os.system": "process", "os.posix_spawn": "process"}
_watchers: list[tuple[str, list[list[str]]]] = []
_hooked: list[bool] = []


@contextmanager
def watching(folder: Path) -> Iterator[list[list[str]]]:
    """Note what happens to a folder and the files directly in it, in this process.

    Yields:
        A growing list of ``[kind, file name]``; kinds are open, list, stat and process (any command started).
    """
    if not _hooked:
        # An audit hook stays for ever, so there is one, and it does nothing while nobody watches.
        sys.addaudithook(_hook)
        _hooked.append(True)
    seen: list[list[str]] = []
    real_stat = os.stat
    _watchers.append((str(folder), seen))
    os.stat = _noting(real_stat)
    try:
        yield seen
    finally:
        os.stat = real_stat
        _watchers.pop()


def _hook(event: str, args: tuple) -> None:
    if _watchers and event in KINDS:
        _note(KINDS[event], args[0] if args else None)


def _note(kind: str, path: object) -> None:
    folder, seen = _watchers[-1]
    if kind == "process":
        seen.append([kind, ""])
    elif isinstance(path, str | bytes | os.PathLike):
        absolute = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - may not touch the file system
        if absolute == folder or os.path.dirname(absolute) == folder:  # noqa: PTH120
            seen.append([kind, os.path.basename(absolute) if absolute != folder else ""])  # noqa: PTH119


def _noting(real_stat: Any) -> Any:  # noqa: ANN401 - os.stat
    def stat(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:  # noqa: ANN401
        _note("stat", path)
        return real_stat(path, *args, **kwargs)

    return stat

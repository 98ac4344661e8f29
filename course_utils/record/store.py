"""A record on the disk: begun, continued by a later run, and never half written."""

import re
from pathlib import Path

import msgspec

from course_utils.record.schema import Record, decode, wrong
from course_utils.system import write_atomically

FOLDER = ".records"  # in the folder of the data, whose verification leaves hidden names alone
PATTERN = "record_*.json"  # quick ones have another name, so that no lesson draws them


class RecordError(RuntimeError):
    """A record cannot be made; the message says what to do."""


def place_of(data: Path, record: Record, quick: bool) -> Path:
    """Return where the record of a machine lies: other nodes and file systems have other names."""
    machine = record.machine
    name = re.sub(r"[^a-z0-9]+", "-", f"{machine.gpu or machine.cpu} {machine.file_system}".lower()).strip(
        "-"
    )
    return data / FOLDER / f"{'quick' if quick else 'record'}_{name}.json"


def begun(path: Path, fresh: Record) -> Record:
    """Return the record to continue: the one on the disk, else the fresh one.

    Raises:
        RecordError: Another machine, other settings or other versions made that file, or it is damaged.
    """
    if not path.exists():
        return fresh
    try:
        found = decode(path.read_bytes())
    except ValueError as error:
        raise RecordError(f"{path}: {error}. Move it away") from error
    if fault := next(wrong(found), None):
        raise RecordError(f"{path}: {fault}. Move it away")
    for name in ("machine", "settings", "versions"):
        if getattr(found, name) != getattr(fresh, name):
            raise RecordError(f"{path} was begun with another {name}. Move it away, or name another --out")
    return found


def save(path: Path, record: Record) -> None:
    """Write a record.

    Raises:
        RecordError: The folder cannot be written to.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, [msgspec.json.format(msgspec.json.encode(record)), b"\n"])
    except OSError as error:
        raise RecordError(f"{path} cannot be written ({error}): name a file of your own by --out") from error

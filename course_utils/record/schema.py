"""What a record holds, and what is wrong with one."""

import math
import re
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Annotated

import msgspec

FORMAT, VERSION = "feeding-the-gpu record", 1
NOBODY = "nobody has recorded this yet"
PROCESSES = (1, 8)
ROUNDS = 9
BATCH = (256, 3, 224, 224)  # bytes of the batch that is copied to the GPU
FASTEST = 1e12  # bytes per second: no link to a GPU copies more

Aware = Annotated[datetime, msgspec.Meta(tz=True)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


@dataclass(frozen=True)
class Kind:
    """What a part of a record measures.

    Attributes:
        unit: Unit of all its numbers.
        least: No number is smaller.
        most: No number is larger.
        names: Pattern of the names of its numbers.
        needs_gpu: Whether it is left out without a GPU.
    """

    unit: str
    least: float
    most: float
    names: str
    needs_gpu: bool = False


_OPERATIONS = "open|stat|read from a pack|first read of a file"
PARTS = {
    "epochs": Kind("s per image", 1e-6, 100, r"(JPEG files|JPEG in a zip|raw in a zip), (first|again)"),
    "operations": Kind("per s", 0.01, 1e8, rf"({_OPERATIONS}), ({'|'.join(map(str, PROCESSES))})"),
    "decoding": Kind("images per s", 0.1, 1e7, r"[\w ,()×]+"),
    "transfers": Kind(
        "ms", 1e-3, 1e5, "(pageable|pinned), non_blocking=(True|False), (returned|done)", needs_gpu=True
    ),
    "overlap": Kind("ms", 1e-3, 1e5, "(copies alone|kernels alone|one stream|two streams)", needs_gpu=True),
    "steps": Kind("ms", 1e-2, 1e6, r"[\w ]+", needs_gpu=True),
}


class Round(msgspec.Struct, forbid_unknown_fields=True):
    """The numbers of one part, measured together."""

    at: Aware
    values: dict[str, float]


class Part(msgspec.Struct, forbid_unknown_fields=True):
    """All rounds of a part.

    Attributes:
        unit: Unit of all values.
        rounds: In the order of their times.
        missing: Why nothing was measured; empty otherwise.
        left_out: By name, why it was not measured here.
    """

    unit: str
    rounds: list[Round] = []
    missing: str = ""
    left_out: dict[str, str] = {}


class Settings(msgspec.Struct, forbid_unknown_fields=True):
    """What the numbers depend on.

    Attributes:
        rounds: How often each part is measured.
        images: Files that are read for the first time, for each such number of a round.
        packed: Images that a round reads from a pack; a few would cost more each than those of an epoch,
            because the kernel reads ahead what only later reads need.
        seconds: How long operations are counted.
        set: Images of the data set.
    """

    rounds: Annotated[int, msgspec.Meta(ge=1, le=1000)]
    images: Annotated[int, msgspec.Meta(ge=1)]
    packed: Annotated[int, msgspec.Meta(ge=1)]
    seconds: Annotated[float, msgspec.Meta(gt=0)]
    set: Annotated[int, msgspec.Meta(ge=1)]


class Machine(msgspec.Struct, forbid_unknown_fields=True):
    """Where it was measured, without names of hosts, people or folders.

    Attributes:
        cpu: Its name.
        cores: Cores that this process may use.
        gpu: The name of the GPU; empty without one.
        kernel: System and its version.
        file_system: Its type where the data set lies.
        cache: What "first" means there: evicted from the page cache, or why that cannot be done.
    """

    cpu: Name
    cores: Annotated[int, msgspec.Meta(ge=1)]
    gpu: str
    kernel: Name
    file_system: Name
    cache: Name


class Record(msgspec.Struct, forbid_unknown_fields=True):
    """One file: a machine and what was measured there."""

    format: str
    version: int
    date: Aware
    command: Name
    machine: Machine
    versions: dict[str, str]
    settings: Settings
    parts: dict[str, Part]

    def values(self, kind: str, name: str) -> list[float]:
        """Return one number of each round; none if it was not measured."""
        rounds = self.parts[kind].rounds if kind in self.parts else []
        return [one.values[name] for one in rounds if name in one.values]

    def __str__(self) -> str:
        machine = self.machine
        hardware = ", ".join(filter(None, (machine.gpu, machine.cpu)))
        return f"{hardware}, {machine.file_system}, {self.date:%Y-%m-%d}"


class _Head(msgspec.Struct):
    format: str
    version: int


def spread(values: list[float]) -> str:
    """Return the median and, of several numbers, the range."""
    middle, low, high = (f"{f(values):,.4g}" for f in (statistics.median, min, max))
    return middle if len(values) == 1 else f"{middle} ({low} to {high})"


def decode(raw: bytes) -> Record:
    """Decode a record.

    Raises:
        ValueError: It is none, or of another version; the message says why.
    """
    try:
        head = msgspec.json.decode(raw, type=_Head)
        if (head.format, head.version) != (FORMAT, VERSION):
            found = f"{head.format!r:.60}, version {head.version}"
            raise ValueError(f"it is {found}; this course reads {FORMAT!r}, version {VERSION}")
        return msgspec.json.decode(raw, type=Record)
    except RecursionError:
        raise ValueError("it is nested too deeply for a record") from None
    except msgspec.MsgspecError as error:
        raise ValueError(f"it is no record: {error}") from None


def faults(raw: bytes) -> list[str]:
    """Return what is wrong with the bytes of a record, a sentence each; nothing if it can be used."""
    try:
        record = decode(raw)
    except ValueError as error:
        return [str(error)]
    return [*wrong(record), *_absent(record)]


def wrong(record: Record) -> Iterator[str]:
    """Yield what is wrong with a record, which need not be complete."""
    if record.date > datetime.now(UTC) + timedelta(days=1):
        yield f"its date is in the future: {record.date:%Y-%m-%d}"
    if not record.versions:
        yield "it names no versions"
    for name, part in record.parts.items():
        if name not in PARTS:
            yield f"{name}: unknown part; there are {', '.join(PARTS)}"
            continue
        yield from (f"{name}: {fault}" for fault in _wrong_part(PARTS[name], part))
    if record.machine.gpu == "":
        measured = [name for name, kind in PARTS.items() if kind.needs_gpu and _rounds(record, name)]
        yield from (f"{name}: measured without a GPU" for name in measured)
    for number, one in enumerate(_rounds(record, "transfers"), start=1):
        yield from (f"transfers, round {number}: {fault}" for fault in _wrong_copies(one.values))


def _rounds(record: Record, name: str) -> list[Round]:
    return record.parts[name].rounds if name in record.parts else []


def _wrong_part(kind: Kind, part: Part) -> Iterator[str]:
    if part.unit != kind.unit:
        yield f"its unit is {kind.unit!r}, not {part.unit!r}"
    if any(later.at < earlier.at for earlier, later in pairwise(part.rounds)):
        yield "its rounds are not in the order of their times"
    if len({frozenset(one.values) for one in part.rounds}) > 1:
        yield "its rounds measure different things"
    if part.missing and part.rounds:
        yield "it says why nothing was measured, and has rounds"
    for number, one in enumerate(part.rounds, start=1):
        if not one.values:
            yield f"round {number} is empty"
        for name, value in one.values.items():
            if not re.fullmatch(kind.names, name):
                yield f"round {number}: unknown name {name!r:.60}"
            if not kind.least <= value <= kind.most:
                yield f"round {number}: {name!r:.60} is impossible: {value:g} {kind.unit}"


def _wrong_copies(values: dict[str, float]) -> Iterator[str]:
    shortest = 1e3 * math.prod(BATCH) / FASTEST
    for name, done in values.items():
        if not name.endswith("done"):
            continue
        if done < values.get(name.replace("done", "returned"), 0):
            yield f"{name!r} is shorter than the call that began it"
        if done < shortest:
            yield f"{name!r} is impossible: {done:g} ms is more than {FASTEST / 1e9:,.0f} GB/s"


def _absent(record: Record) -> Iterator[str]:
    """Yield what a complete record has and this one has not."""
    for name, kind in PARTS.items():
        part = record.parts.get(name)
        if part is None:
            yield f"{name}: this part is missing"
        elif part.missing and not kind.needs_gpu:
            yield f"{name}: every machine can measure this part, and it says {part.missing!r:.60}"
        elif not part.missing and len(part.rounds) != record.settings.rounds:
            yield f"{name}: {len(part.rounds)} of {record.settings.rounds} rounds; run the command again"

"""One case: a reader, an event, and when it happens; judged in a child process."""

import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple
from zipfile import BadZipFile

from course_utils.data import PackError
from course_utils.scratch import ScratchError
from course_utils.system import in_child, transient_errors
from data_setup.format.errors import SetupError
from tests.open_files.events import EVENTS
from tests.open_files.limited_child import outcome_of
from tests.open_files.readers import READERS, Fact, Reader, ReportedError

OURS = (PackError, SetupError, ScratchError, ReportedError, OSError)


class Case(NamedTuple):
    """What happens when.

    Attributes:
        reader: Key of `READERS`.
        event: Key of `EVENTS`.
        when: "opening": before files are opened for the `count`-th time; "reading": after so many
            samples; "pickled": then the reader is pickled and opened again.
        count: See above.
        everything: Whether the event happens to all files of the set, or to one.
        seed: Of everything else.
    """

    reader: str
    event: str
    when: str
    count: int
    everything: bool
    seed: int


def drawn(seed: int) -> Case:
    rng = Random(seed)
    return Case(
        rng.choice(list(READERS)),
        rng.choice(list(EVENTS)),
        rng.choice(["opening", "reading", "pickled"]),
        rng.randrange(5),
        rng.random() < 0.6,
        seed,
    )


def run(case: Case, old: Path, new: Path) -> str:
    """Return "right", "clear: ...", or what went wrong."""
    reader = READERS[case.reader]
    right, renewed = _facts(case.reader, old), _facts(case.reader, new)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        work.mkdir()
        top = Path(reader.path).parts[0]
        _copy(old / top, work / top)
        return outcome_of(_judged, case, right, renewed, new, work)


def _judged(case: Case, right: list[Fact], renewed: list[Fact], new: Path, work: Path) -> str:
    reader = READERS[case.reader]
    transient_errors.PAUSES = (0, 0, 0)
    found: list[Fact] = []
    renews = reader.renews or case.when == "opening"  # what is opened after the event is another set
    try:
        for fact in _interrupted(case, reader, new, work):
            found.append(fact)
            begins = found == right[: len(found)] or (renews and found == renewed[: len(found)])
            if not begins and not reader.silent:
                return "FEWER" if fact in right else "WRONG"
    except OURS as error:
        text = f"{error} {getattr(error, 'filename', '')}"
        return f"clear: {error!r}" if str(work) in text else f"NO PATH: {error!r}"
    except BadZipFile as error:  # what `ZipIndex` itself raises
        return f"clear: {error!r}" if case.reader.startswith("ZipIndex") else f"BARE {error!r}"
    except Exception as error:
        return f"BARE {error!r}"
    if found == right or (renews and found == renewed):
        return "right"
    return "right: its nature" if reader.silent else "FEWER"


@cache
def _facts(name: str, root: Path) -> list[Fact]:
    """Return what is right, read in a child: libraries start threads, which a fork would lose."""
    return in_child(_facts_of, READERS[name], root)


def _facts_of(reader: Reader, root: Path) -> list[Fact]:
    with tempfile.TemporaryDirectory() as folder:
        top = Path(reader.path).parts[0]
        _copy(root / top, Path(folder) / top)  # some tools write
        return list(reader.facts(reader.open(Path(folder) / reader.path)))


def _copy(source: Path, target: Path) -> None:
    (shutil.copytree if source.is_dir() else shutil.copy)(source, target)


def _interrupted(case: Case, reader: Reader, new: Path, work: Path) -> Iterator[Fact]:
    rng = Random(case.seed)
    path = work / reader.path
    top = work / Path(reader.path).parts[0]
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    files = files if case.everything else [rng.choice(files)]

    def happen() -> None:
        for file in files:
            if file.exists():
                EVENTS[case.event](file, _counterpart(file, work, new), rng)

    if case.when == "opening":
        _before_opening(case.count, top, happen)
    opened = reader.open(path)
    if case.when == "pickled" and reader.pickles:
        happen()
        opened = pickle.loads(pickle.dumps(opened))
    facts = reader.facts(opened)
    if case.when == "reading" or (case.when == "pickled" and not reader.pickles):
        for _ in range(case.count):
            if (fact := next(facts, None)) is not None:
                yield fact
        happen()
    yield from facts


def _counterpart(file: Path, work: Path, new: Path) -> Path:
    """Return the other set's file of this path; in a folder of classes, that of this name."""
    same = new / file.relative_to(work)
    return same if same.exists() else next((new / file.relative_to(work).parts[0]).rglob(file.name))


def _before_opening(count: int, top: Path, happen: Callable[[], None]) -> None:
    left = [count]

    def hook(name: str, arguments: tuple[object, ...]) -> None:
        if name == "open" and left[0] >= 0 and str(top) in str(arguments[0]):
            left[0] -= 1
            if left[0] < 0:
                happen()

    sys.addaudithook(hook)

"""Whatever happens to a file while it is open: the right bytes and labels, or a clear error, never else.

Which readers are let off, and why, stands in `readers.py`: those whose format has no checksum may deliver
other content in silence (`silent`), and those of memory maps and of HDF5 may end or hang (`dies`).
Squashfs is left out: it starts a program for each sample.
"""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from course_utils.system import in_child
from tests.open_files.case import Case, drawn, run
from tests.open_files.events import EVENTS
from tests.open_files.readers import READERS
from tests.open_files.sets import FORMATS, format_named, write_set

ROOT = Path(__file__).parents[2]
TOOLS = ("data_setup/format", "data_setup/inspect", "data_setup/sources")
QUICK, ALL, PARTS = 60, 2000, 4


@pytest.fixture(scope="session")
def sets(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("sets")
    for name in FORMATS:
        format_named(name)  # imports its library once, not in each child
    for turn, name in enumerate(("old", "new")):
        in_child(write_set, folder / name, turn)
    return folder / "old", folder / "new"


def one_of_each() -> list[int]:
    """Return a seed for every second pair of a reader and an event, as the white fields of a chessboard."""
    pairs = {(case.reader, case.event): seed for seed, case in reversed([*enumerate(map(drawn, range(ALL)))])}
    board = [(row, column) for row in enumerate(READERS) for column in enumerate(EVENTS)]
    white = [(reader, event) for (x, reader), (y, event) in board if (x + y) % 2]
    return [pairs[pair] for pair in white if pair in pairs]


def failures(seeds: Iterable[int], sets: tuple[Path, Path]) -> list[str]:
    found = [(case, run(case, *sets)) for case in map(drawn, seeds)]
    return [f"{case}: {outcome}" for case, outcome in found if not is_allowed(case, outcome)]


def is_allowed(case: Case, outcome: str) -> bool:
    died = outcome in ("HANG", "SIGBUS", "SIGSEGV", "SIGABRT")
    return outcome.startswith(("right", "clear: ")) or (died and bool(READERS[case.reader].dies))


def test_some_events(sets):
    assert not failures(range(QUICK), sets)


@pytest.mark.proof
@pytest.mark.parametrize("part", range(PARTS))
def test_each_reader_and_each_event(part, sets):
    assert not failures(one_of_each()[part::PARTS], sets)


@pytest.mark.parametrize("room", ["course_utils/data", "course_utils/formats", *TOOLS])
def test_no_path_is_opened_that_may_have_become_a_pipe(room):
    """Whoever looks first and opens then waits for a writer without end: `open_regular_file` does neither."""
    found = [
        f"{file}: {line.strip()}"
        for file in ROOT.joinpath(room).rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"\.open\((\"rb\"|encoding)|\.read_bytes\(\)|copyfile\(", line)
    ]
    assert not found


def test_every_reader_meets_every_event():
    cases = [drawn(seed) for seed in range(ALL)]
    assert len({(case.reader, case.event) for case in cases}) > 0.9 * len(READERS) * 12

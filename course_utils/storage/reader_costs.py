"""Measure in a process of its own what opening a packed file and reading samples from it cost.

The counts come from the kernel, so they include C libraries and memory maps: system calls from ``strace``,
bytes from the disk from ``/proc/self/io``, page faults from ``getrusage``. Python's own counter
(`io_counter`) sees none of these.
"""

import json
import os
import pickle
import re
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from course_utils.storage import page_cache, read_ahead, strace

# The child looks up these names, which do not exist, so that the log shows where a phase begins.
PHASES = ("opening", "reading", "done")
_LINE = re.compile(
    r"^(?P<time>[\d.]+) (?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)(?:<(?P<path>[^>]*)>)?"
)


class HasData(Protocol):
    """A sample."""

    @property
    def data(self) -> bytes:
        """The bytes that are useful."""


class Reader(Protocol):
    """An open packed file."""

    def read(self, index: int) -> HasData:
        """Return one sample."""


@dataclass(frozen=True)
class PhaseCosts:
    """What one phase took, opening or reading.

    Attributes:
        calls: System calls on the packed file by name; None where they were not traced.
        read_bytes: Bytes that these calls returned; None where they were not traced.
        disk_bytes: Bytes that came from the disk; None where the kernel does not tell.
        faults: Page faults, those of memory that was allocated included.
        memory_bytes: Growth of the memory of the process (resident set); None where the kernel does not tell.
    """

    calls: Counter[str] | None
    read_bytes: int | None
    disk_bytes: int | None
    faults: int
    memory_bytes: int | None


@dataclass(frozen=True)
class SampleCosts:
    """Costs of opening a packed file and of reading some samples from it.

    Attributes:
        opening: Until the reader exists.
        reading: Until the last sample has been read.
        samples: Number of samples.
        useful_bytes: Size of the samples' data.
    """

    opening: PhaseCosts
    reading: PhaseCosts
    samples: int
    useful_bytes: int


def sample_costs(
    open_reader: Callable[[], Reader],
    indices: Sequence[int],
    under: Path,
    traced: bool = False,
    cold: bool = False,
    expect_random: bool = False,
) -> SampleCosts:
    """Open a reader in a new process, read samples from it, and return what that cost.

    Args:
        open_reader: Picklable function that opens the file, such as ``functools.partial(StoredZip, path)``.
        indices: The samples to read, in this order.
        under: The packed file or folder; calls on other files do not count.
        traced: Count system calls; this slows the process down.
        cold: Evict the files from the page cache first.
        expect_random: When the reader is open, ask the kernel not to read ahead in its files.

    Raises:
        RuntimeError: ``traced``, and ``strace`` is missing or not permitted.
        subprocess.CalledProcessError: The process failed; what it wrote is in ``stderr``.
    """
    if traced and (reason := strace.why_not_traceable()):
        raise RuntimeError(reason)
    under = under.resolve()  # as strace shows it
    if cold:
        page_cache.evict(under)
    with tempfile.TemporaryDirectory(prefix="costs_") as folder:
        job = Path(folder) / "job"
        job.write_bytes(pickle.dumps((open_reader, list(indices), str(under), expect_random)))
        command = [sys.executable, "-m", __name__, str(job)]
        options = ["strace", "-ff", "-y", "-ttt", "-e", "trace=%file,%desc", "-o", f"{folder}/log"]
        done = subprocess.run(
            [*(options if traced else []), *command], check=True, capture_output=True, text=True
        )
        told = json.loads(done.stdout)
        lines = _lines(Path(folder).glob("log.*"), str(under)) if traced else {}
        opening, reading = (
            PhaseCosts(
                Counter(call for call, _ in lines[phase]) if traced else None,
                sum(size for _, size in lines[phase]) if traced else None,
                **told[phase],
            )
            for phase in PHASES[:2]
        )
    return SampleCosts(opening, reading, len(indices), told["useful_bytes"])


def _lines(logs: Iterable[Path], under: str) -> dict[str, list[tuple[str, int]]]:
    """Return the calls on files below a folder and the bytes that each read, by phase."""
    found = sorted(_parsed(logs), key=lambda line: line[0])
    phases: dict[str, list[tuple[str, int]]] = {phase: [] for phase in ("before", *PHASES)}
    current = "before"
    for _, call, arguments, path, size in found:
        begins = re.search(rf"{re.escape(under)}/?\.phase-(\w+)", arguments)
        if begins:
            current = begins[1]
        elif under in arguments + path:
            phases[current].append((call, size if "read" in call else 0))
    return phases


def _parsed(logs: Iterable[Path]) -> Iterator[tuple[float, str, str, str, int]]:
    for log in logs:
        for line in log.read_text(errors="replace").splitlines():
            if match := _LINE.match(line):
                size = max(int(match["result"]), 0)
                yield float(match["time"]), match["call"], match["arguments"], match["path"] or "", size


def _main(job: str) -> None:
    """Run a job from `sample_costs`, and print what its phases cost."""
    open_reader, indices, under, expect_random = pickle.loads(Path(job).read_bytes())
    costs: dict[str, dict[str, int | None]] = {}
    before = _usage(under, "opening")
    reader = open_reader()
    if expect_random:
        read_ahead.expect_random_reads(Path(under))
    after = _usage(under, "reading")
    costs["opening"] = _difference(before, after)
    before = after
    useful = sum(len(reader.read(index).data) for index in indices)
    costs["reading"] = _difference(before, _usage(under, "done"))
    sys.stdout.write(json.dumps({**costs, "useful_bytes": useful}))


def _usage(under: str, phase: str) -> dict[str, int | None]:
    os.path.exists(f"{under}.phase-{phase}")  # noqa: PTH110 - a mark in the log
    usage, kilobytes = resource.getrusage(resource.RUSAGE_SELF), _number("/proc/self/status", "VmRSS")
    return {
        "disk_bytes": _number("/proc/self/io", "read_bytes"),
        "faults": usage.ru_minflt + usage.ru_majflt,
        "memory_bytes": None if kilobytes is None else 1024 * kilobytes,
    }


def _difference(before: dict[str, int | None], after: dict[str, int | None]) -> dict[str, int | None]:
    return {name: None if value is None else value - (before[name] or 0) for name, value in after.items()}


def _number(path: str, name: str) -> int | None:
    """Return a number from a file of ``/proc`` with lines such as ``read_bytes: 4096``, or None."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), None)


if __name__ == "__main__":
    _main(sys.argv[1])

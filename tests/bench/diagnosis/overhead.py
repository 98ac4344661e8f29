"""What the tool adds to an epoch: on the wall, and on the cores of all processes."""

import json
import statistics
import subprocess
import sys
from typing import NamedTuple

from tests.lessons.lesson import COURSE

SCRIPT = "tests/bench/diagnosis/epochs.py"
PAIRS = 8


class Overhead(NamedTuple):
    """Ratios of an epoch with the tool to one without: median, least, most of interleaved pairs."""

    wall: tuple[float, float, float]
    cpu: tuple[float, float, float]
    pairs: int


def measure(pairs: int = PAIRS) -> Overhead:
    """Run pairs of trainings, one with and one without, each second pair in the other order."""
    ratios = []
    for pair in range(pairs):
        commands: list[tuple[str, ...]] = [(), ("-m", "course_utils.diagnosis")]
        seconds = {command: _epoch(*command) for command in (commands[::-1] if pair % 2 else commands)}
        plain, told = (seconds[command] for command in commands)
        ratios.append([told[0] / plain[0], told[1] / plain[1]])
    wall, cpu = (
        (statistics.median(column), min(column), max(column)) for column in zip(*ratios, strict=True)
    )
    return Overhead(wall, cpu, pairs)


def _epoch(*command: str) -> list[float]:
    """Median seconds on the wall and on cores of an epoch, of one run."""
    argv = [sys.executable, *command, SCRIPT]
    done = subprocess.run(argv, cwd=COURSE, capture_output=True, text=True, check=True)
    return [
        statistics.median(column) for column in zip(*json.loads(done.stdout.splitlines()[-1]), strict=True)
    ]


def told(found: Overhead) -> str:
    """The ratios in a sentence."""
    wall, cpu = (f"{middle:.3f} ({low:.3f} to {high:.3f})" for middle, low, high in (found.wall, found.cpu))
    return f"an epoch takes {wall} times as long, and {cpu} times as much of the cores; {found.pairs} pairs"

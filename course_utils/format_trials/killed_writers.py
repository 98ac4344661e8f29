"""Kill a writer in the middle of its work, and count the samples that can still be read."""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from course_utils.formats import PackedFormat, Sample
from course_utils.system import ChildDiedError, in_child


@dataclass(frozen=True)
class KilledWriter:
    """What a killed writer left behind.

    Attributes:
        written: Samples that the writer had been given.
        readable: Samples that a reader returns, equal to those written, before its first error.
        recovered: The same for a reader that goes from sample to sample and needs no index (`recover`).
        error: The first error of the reader, or an empty string.
    """

    written: int
    readable: int
    recovered: int
    error: str


def kill_writer(kind: type[PackedFormat], samples: Sequence[Sample], at: int = 1235) -> KilledWriter:
    """Write samples in a child process that is killed when it asks for one of them.

    Args:
        kind: The format.
        samples: What to write, more than `at`.
        at: Number of samples that the writer gets before it is killed (SIGKILL).
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packed"
        with suppress(ChildDiedError):
            in_child(_write_until_killed, kind, path, samples, at)
        readable, error = in_child(_count, partial(_stream, kind, path), samples)
        recovered, _ = in_child(_count, partial(kind.recover, path), samples)
    return KilledWriter(at, readable, recovered, error)


def _write_until_killed(kind: type[PackedFormat], path: Path, samples: Sequence[Sample], at: int) -> None:
    def until_killed() -> Iterator[Sample]:
        yield from samples[:at]
        os.kill(os.getpid(), signal.SIGKILL)

    tempfile.tempdir = str(path.parent)  # a killed process does not remove its temporary files
    kind.write(path, until_killed())


def _stream(kind: type[PackedFormat], path: Path) -> Iterator[Sample]:
    with closing(kind(path)) as reader:
        yield from reader.stream()


def _count(stream: Callable[[], Iterator[Sample]], samples: Sequence[Sample]) -> tuple[int, str]:
    """Return the number of samples until one differs or the stream ends, and its error."""
    count = 0
    try:
        for found, expected in zip(stream(), samples, strict=False):
            if found != expected:
                return count, "another sample"
            count += 1
    except Exception as error:
        return count, f"{type(error).__name__}: {error}".splitlines()[0]
    return count, ""

"""What an open reader sends to a process that was spawned, and whether it works there.

`spawn` and `forkserver` pickle the data set. The formats of this course pickle as their path. Without that,
pickle would send what the open reader holds: its handles, its index, its maps.
"""

import json
import os
import pickle
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from course_utils.format_trials.outcomes import Outcomes, outcome
from course_utils.formats import RandomAccess, Sample


@dataclass(frozen=True)
class PickledReader:
    """A reader as pickle sends it.

    Attributes:
        nbytes: Size of the pickle; None if the reader cannot be pickled.
        error: Why it cannot, or an empty string.
        fresh: What a fresh process reads with it.
    """

    nbytes: int | None
    error: str
    fresh: Outcomes


def pickle_readers(
    readers: Mapping[str, RandomAccess], samples: Sequence[Sample], state: bool = False, reads: int = 20
) -> dict[str, PickledReader]:
    """Pickle open readers, and read random samples with them in one fresh process.

    Args:
        readers: Open readers by name.
        samples: What was written.
        state: Pickle everything that the open readers hold, as pickle does by default, not their paths.
        reads: Samples that each of them reads.
    """
    pickles, errors = {}, {}
    for name, reader in readers.items():
        try:
            pickles[name] = pickle.dumps((type(reader), vars(reader)) if state else reader)
        except Exception as error:
            errors[name] = f"{type(error).__name__}: {error}"
    indices = np.random.default_rng(0).integers(0, len(samples), reads).tolist()
    expected = [(index, _checksum(samples[index])) for index in indices]
    job = pickle.dumps((pickles, expected))
    done = subprocess.run([sys.executable, "-m", __name__], input=job, check=True, stdout=subprocess.PIPE)
    found = json.loads(done.stdout)
    return {
        name: PickledReader(len(pickles[name]), "", Outcomes(**found[name]))
        if name in pickles
        else PickledReader(None, errors[name], Outcomes(errors=reads))
        for name in readers
    }


def _checksum(sample: Sample) -> int:
    return zlib.crc32(repr((sample.name, sample.label)).encode() + sample.data)


def _main() -> None:
    """Read in a fresh process with readers from `pickle_readers`, and print the outcomes."""
    pickles, expected = pickle.load(sys.stdin.buffer)
    told = {name: vars(_read(data, expected)) for name, data in pickles.items()}
    sys.stdout.write(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)  # the destructor of a reader without its files may crash


def _read(data: bytes, expected: list[tuple[int, int]]) -> Outcomes:
    try:
        reader = _unpickled(data)
    except Exception:
        return Outcomes(errors=len(expected))

    def read(index: int) -> int:
        return _checksum(reader.read(index))

    return sum((outcome(partial(read, index), checksum) for index, checksum in expected), Outcomes())


def _unpickled(data: bytes) -> RandomAccess:
    found = pickle.loads(data)
    if isinstance(found, RandomAccess):
        return found
    kind, state = found
    reader: RandomAccess = object.__new__(kind)
    vars(reader).update(state)
    return reader


if __name__ == "__main__":
    _main()

"""Cut a file short while a reader has it open, and read a sample that is no longer there.

A memory map ends a process with a bus error (SIGBUS) where the file ends before the map does. It is a signal,
not an exception: no `try` catches it, so that it is shown in a child process.
"""

import faulthandler
import os
import resource
import signal
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from course_utils.format_trials.outcomes import outcome
from course_utils.formats import RandomAccess, Sample
from course_utils.system import ChildDiedError, in_child

SECONDS = 20  # until a read counts as one that never returns


def read_cut_short(kind: type[RandomAccess], samples: Sequence[Sample]) -> str:
    """Write samples, open them in a child process, cut their file in half, and read the last sample.

    Args:
        kind: The format.
        samples: What to write.

    Returns:
        ``killed by SIGBUS`` or another signal, ``never returned``, or the verdict on the read, which is
        ``right``, ``errors`` or ``wrong in silence``.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packed"
        kind.write(path, samples)
        try:
            return in_child(_read_last, kind, path, samples[-1])
        except ChildDiedError as death:
            if death.signal is signal.SIGALRM:
                return "never returned"
            return f"killed by {death.signal.name}" if death.signal else "died"


def _read_last(kind: type[RandomAccess], path: Path, last: Sample) -> str:
    # The death is expected: no report of it on stderr, and no file with the memory of the process.
    faulthandler.disable()
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with closing(kind(path)) as reader:
        index = len(reader) - 1
        for file in [path] if path.is_file() else path.iterdir():
            os.truncate(file, file.stat().st_size // 2)
        return outcome(lambda: reader.read(index), last).verdict

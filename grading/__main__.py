"""`python -m grading`: see `cli`."""

import signal
import sys
from types import FrameType

from grading.cli import main

INTERRUPTED = "\nInterrupted. The results so far are kept; the same command continues.\n"


def _stop(number: int, _: FrameType | None) -> None:
    """End as after Ctrl-C, so that sandboxes and Slurm jobs are ended, too."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    for _number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(_number) is not signal.SIG_IGN:  # nohup
            signal.signal(_number, _stop)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.stderr.write(INTERRUPTED)
        sys.exit(128 + signal.SIGINT)

"""Run a function in a forked child under a hard time limit: a crash and a hang are outcomes, too."""

import faulthandler
import os
import resource
import signal
from collections.abc import Callable

from course_utils.system import ChildDiedError, in_child

SECONDS = 20  # far more than any case takes, on a busy machine too


def outcome_of(function: Callable[..., str], *args: object) -> str:
    """Return the function's text, or `HANG`, or the name of the signal that ended the child."""
    try:
        return in_child(_limited, function, *args)
    except ChildDiedError as death:
        if death.signal is signal.SIGALRM:
            return "HANG"
        return death.signal.name if death.signal else "DIED"


def _limited(function: Callable[..., str], *args: object) -> str:
    signal.alarm(SECONDS)  # its default action ends the process, also within a library that does not return
    faulthandler.disable()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for output in 1, 2:  # where a library ends its process, it says so there
        os.dup2(os.open(os.devnull, os.O_WRONLY), output)
    return function(*args)

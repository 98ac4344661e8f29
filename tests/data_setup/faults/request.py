"""What the runner of faults is asked for."""

import errno
from collections.abc import Iterator, Sequence
from typing import NamedTuple

FAULTS = ("kill", "EIO", "ENOSPC", "EDQUOT", "EINTR", "ESTALE", "short")
EFFECTS = {"kill": 1000, "short": 1001, "stop": 1002}  # numbers of preload.c beside those of errors


def number_of(kind: str) -> int:
    """Return the number by which preload.c knows a fault."""
    return EFFECTS.get(kind) or int(getattr(errno, kind))


class Request(NamedTuple):
    """What to run.

    Args:
        work: A folder on the filesystem to test, for this alone.
        log: A file outside of it.
        scenario: The name of a command.
        always: What happens at every call that is tried.
        in_turn: What also happens there, one of them at each call.
        stride: Try every n-th call.
        image: The file that holds the filesystem of `work`: cut the power instead.
    """

    work: str
    log: str
    scenario: str
    always: Sequence[str] = ()
    in_turn: Sequence[str] = ()
    stride: int = 1
    image: str = ""

    def cases(self, calls: int) -> Iterator[tuple[int, str]]:
        """Yield the number of a call and a fault."""
        for turn, call in enumerate(range(1, calls + 1, self.stride)):
            yield from ((call, kind) for kind in self.always)
            if self.in_turn:
                yield call, self.in_turn[turn % len(self.in_turn)]

"""What became of many reads: right, refused with an error, or wrong without one."""

from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True)
class Outcomes:
    """Counts of reads by their outcome.

    Attributes:
        right: Reads that returned what was written.
        errors: Reads that raised.
        wrong: Reads that returned something else, and no error: wrong in silence.
        lost: Reads that never returned, because their process died or hung.
    """

    right: int = 0
    errors: int = 0
    wrong: int = 0
    lost: int = 0

    def __add__(self, other: "Outcomes") -> "Outcomes":
        return Outcomes(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def total(self) -> int:
        """Number of reads."""
        return self.right + self.errors + self.wrong + self.lost

    @property
    def all_right(self) -> bool:
        """Whether every read was right."""
        return self.right == self.total

    @property
    def verdict(self) -> str:
        """The worst outcome, because counts of a race differ from run to run, their kind seldom does."""
        if self.wrong:
            return "wrong in silence"
        if self.lost:
            return "died or hung"
        return "errors" if self.errors else "right"


def outcome(read: Callable[[], _T], expected: _T) -> Outcomes:
    """Read once and compare.

    Args:
        read: Any exception that it raises counts as an error.
        expected: What it is to return.
    """
    try:
        found = read()
    except Exception:
        return Outcomes(errors=1)
    return Outcomes(right=1) if found == expected else Outcomes(wrong=1)

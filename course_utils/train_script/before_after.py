"""How much faster `train.py` has become: its first run, its newest, and the ceiling of the machine."""

from collections.abc import Sequence
from dataclasses import dataclass

from course_utils.train_script.log import Line


@dataclass(frozen=True)
class Progress:
    """Runs of the script on one machine.

    Attributes:
        before: The first run.
        after: The newest run of each lesson, in the order of the lessons.
        ceiling: Images per second with one cached batch instead of loading; None if it was not measured.
    """

    before: Line
    after: tuple[Line, ...] = ()
    ceiling: float | None = None

    @property
    def newest(self) -> Line:
        """The newest run."""
        return max((self.before, *self.after), key=lambda line: line.date)

    def __str__(self) -> str:
        before, now = self.before.fastest, self.newest.fastest
        told = f"{before:,.0f} images/s before, {now:,.0f} now: {now / before:.1f} times"
        return f"{told}, {now / self.ceiling:.0%} of the ceiling" if self.ceiling else told


def progress(log: Sequence[Line]) -> Progress:
    """Return the progress on the machine of the newest run.

    Raises:
        ValueError: The log is empty.
    """
    if not log:
        raise ValueError("the log of train.py is empty: run `train_script.measure(script, lesson)` first")
    before, *later = [line for line in log if line.machine == log[-1].machine]
    newest = {line.lesson: line for line in later}
    ceilings = [line.ceiling for line in (before, *later) if line.ceiling]
    return Progress(before, tuple(newest[one] for one in sorted(newest)), ceilings[-1] if ceilings else None)

"""The log of `train.py`, in the order of its runs: a line of JSON for each."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

LOG = "train_log.jsonl"  # one line a run
UNEQUAL = 8  # times as long: workers that share the cores slow the computing by up to 4
_HEAD = "lesson      images/s  waiting  opens  kB read  kB handed over  right  checksum"


@dataclass(frozen=True)
class Line:
    """A run of the script.

    Attributes:
        date: When it ended.
        machine: Its name and the usable cores.
        lesson: The lesson at whose end it ran.
        slowest: Images per second of the slowest epoch.
        fastest: Images per second of the fastest epoch.
        waiting: Part of a step that the training waited for its batch.
        opens: Files opened for an image.
        read: Kilobytes read from files for an image.
        handed: Kilobytes of an image in the batch.
        right: Part of the validation images that were classified rightly after the last epoch.
        samples: A checksum of the labels of the last epoch, in their order.
        ceiling: Images per second with one cached batch instead of loading, where that was measured.
    """

    date: str
    machine: str
    lesson: str
    slowest: float
    fastest: float
    waiting: float
    opens: float
    read: float
    handed: float
    right: float
    samples: str
    ceiling: float | None = None

    def computing(self) -> float:
        """Return the seconds of an image without the waiting, in the fastest epoch."""
        return (1 - self.waiting) / self.fastest

    def __str__(self) -> str:
        speed = f"{self.slowest:.0f} to {self.fastest:4.0f}"
        counts = f"{self.opens:7.1f}  {self.read:7.1f}  {self.handed:14.1f}"
        return f"{self.lesson:6}  {speed:>12}  {self.waiting:7.0%}{counts}  {self.right:5.0%}  {self.samples}"


class Log(list[Line]):
    """The lines of a log; a notebook shows them as a table."""

    def __repr__(self) -> str:
        return "\n".join([_HEAD, *map(str, self), *self._warning()])

    def _warning(self) -> list[str]:
        """Return a line if the same network computed much longer in one run than in another."""
        if not self:
            return []
        quick, slow = (least(self, key=Line.computing) for least in (min, max))
        if slow.computing() < UNEQUAL * quick.computing():
            return []
        return [
            f"In {slow.lesson!r} an image was computed {slow.computing() / quick.computing():.0f} times as "
            "long as in "
            f"{quick.lesson!r}: the machine was busy. Run it again before you compare."
        ]


def append(log: Path, line: Line) -> Log:
    """Add a line, which no other process can break, and return all."""
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(line)) + "\n")
    return read_log(log)


def read_log(log: str | os.PathLike[str]) -> Log:
    """Read a log.

    Raises:
        ValueError: The file is no log of the script.
    """
    try:
        return Log(Line(**json.loads(text)) for text in Path(log).read_text(encoding="utf-8").splitlines())
    except (TypeError, ValueError) as error:
        advice = "move it away, and measure again"
        raise ValueError(f"{log} is no log of train.py ({error!r}): {advice}") from None

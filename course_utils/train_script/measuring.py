"""Run the script once under `course_utils.diagnosis`, and add a line to the log beside it."""

import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from course_utils.paths import data_dir
from course_utils.system import usable_cores

LOG = "train_log.jsonl"  # one line a run
EPOCHS = 2
_EPOCH = re.compile(r"epoch \d+: (\d+) images/s, (\d+)% right, samples ([0-9a-f]{8})")
_HEAD = "lesson     images/s  waiting  opens  kB read  kB handed over  right  checksum"


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

    def __str__(self) -> str:
        speed = f"{self.slowest:.0f} to {self.fastest:4.0f}"
        counts = f"{self.opens:7.1f}  {self.read:7.1f}  {self.handed:14.1f}"
        return f"{self.lesson:6}  {speed:>11}  {self.waiting:7.0%}{counts}  {self.right:5.0%}  {self.samples}"


class Log(list[Line]):
    """The lines of a log; a notebook shows them as a table."""

    def __repr__(self) -> str:
        return "\n".join([_HEAD, *map(str, self)])


def measure(script: str | os.PathLike[str], lesson: str, images: int = 256) -> Log:
    """Run the script in a folder of its own for two epochs; add the result to the log, and return the log.

    The log is `train_log.jsonl` in the folder of the script.

    Args:
        script: The path of `train.py`; it gets the folder of the course's data and two options.
        lesson: For the log.
        images: How many the script trains on.

    Raises:
        RuntimeError: The script failed, or printed no result of an epoch.
    """
    path = Path(script).resolve()
    with tempfile.TemporaryDirectory() as folder:  # here is no checkpoint of another run
        report = Path(folder) / "report.json"
        printed = _run(path, report, folder, images)
        facts = json.loads(report.read_text()) if report.exists() else {}
    epochs = _EPOCH.findall(printed)
    if not epochs or "fetch" not in facts.get("measured", {}):
        raise RuntimeError(
            f"{path.name} ended, but printed no line `epoch 0: … images/s, … right, samples …`. "
            "Keep that line; `python -m course_utils.train_script` writes the script anew"
        )
    return _append(path.with_name(LOG), _line(lesson, epochs, facts))


def _run(path: Path, report: Path, folder: str, images: int) -> str:
    """Return what the script printed; the report of `diagnosis` goes to a file."""
    tool = [sys.executable, "-m", "course_utils.diagnosis", "--json", str(report)]
    command = [*tool, str(path), str(data_dir().resolve()), "--images", str(images), "--epochs", str(EPOCHS)]
    merged = partial(subprocess.Popen, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    with (
        merged(command, cwd=folder, errors="replace") as process,
        tqdm(total=EPOCHS, desc=path.name, unit="epoch", file=sys.stdout) as bar,
    ):
        assert process.stdout
        for line in process.stdout:
            lines.append(line)
            if _EPOCH.match(line):
                bar.update()
    if process.returncode:
        raise RuntimeError(f"{path.name} failed with status {process.returncode}:\n{''.join(lines[-15:])}")
    return "".join(lines)


def _line(lesson: str, epochs: list[tuple[str, str, str]], facts: dict[str, Any]) -> Line:
    speeds = [float(speed) for speed, _, _ in epochs]
    [batch_size] = [loader["batch_size"] for loader in facts["loaders"] if loader["training"]]
    fetch = facts["measured"]["fetch"]
    return Line(
        date=datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        machine=f"{platform.node()}, {usable_cores()} cores",
        lesson=lesson,
        slowest=min(speeds),
        fastest=max(speeds),
        waiting=facts["measured"]["share"],
        opens=fetch["opens"],
        read=fetch["read"] / 1e3,
        handed=fetch["nbytes"] / batch_size / 1e3,
        right=int(epochs[-1][1]) / 100,
        samples=epochs[-1][2],
    )


def _append(log: Path, line: Line) -> Log:
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

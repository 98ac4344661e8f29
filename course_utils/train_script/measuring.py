"""Run the script once under `course_utils.diagnosis`, and add a line to the log beside it."""

import datetime
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from course_utils.paths import data_dir
from course_utils.system import usable_cores
from course_utils.train_script.log import LOG, Line, Log, append

EPOCHS = 2
_EPOCH = re.compile(r"epoch \d+: (\d+) images/s, (\d+)% right, samples ([0-9a-f]{8})")


def measure(script: str | os.PathLike[str], lesson: str, images: int = 256, ceiling: bool = False) -> Log:
    """Run the script in a folder of its own for two epochs; add the result to the log, and return the log.

    The log is `train_log.jsonl` in the folder of the script.

    Args:
        script: The path of `train.py`; it gets the folder of the course's data and two options.
        lesson: For the log.
        images: How many the script trains on.
        ceiling: Whether to run it once more with one cached batch: the upper bound for any loader.

    Raises:
        RuntimeError: The script failed, or printed no result of an epoch.
    """
    path = Path(script).resolve()
    printed, facts = _run(path, images)
    epochs = _EPOCH.findall(printed)
    if not epochs or "fetch" not in facts.get("measured", {}):
        raise RuntimeError(
            f"{path.name} ended, but printed no line `epoch 0: … images/s, … right, samples …`. "
            "Keep that line; `python -m course_utils.train_script` writes the script anew"
        )
    line = _line(lesson, epochs, facts)
    if ceiling:
        _, facts = _run(path, images, "--replay")
        line = replace(line, ceiling=_batch_size(facts) / facts["measured"]["compute"])
    return append(path.with_name(LOG), line)


def _run(path: Path, images: int, *options: str) -> tuple[str, dict[str, Any]]:
    """Run the script in a folder of its own, under `diagnosis`; return what it printed, and the report."""
    with tempfile.TemporaryDirectory() as folder:  # here is no checkpoint of another run
        report = Path(folder) / "report.json"
        tool = [sys.executable, "-m", "course_utils.diagnosis", *options, "--json", str(report)]
        asked = [str(path), str(data_dir().resolve()), "--images", str(images), "--epochs", str(EPOCHS)]
        printed = _watched([*tool, *asked], folder, path.name)
        return printed, json.loads(report.read_text()) if report.exists() else {}


def _watched(command: list[str], folder: str, name: str) -> str:
    """Run a command with a bar that counts the epochs it prints; return all that it printed."""
    merged = partial(subprocess.Popen, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    with (
        merged(command, cwd=folder, errors="replace") as process,
        tqdm(total=EPOCHS, desc=name, unit="epoch", file=sys.stdout) as bar,
    ):
        assert process.stdout
        for line in process.stdout:
            lines.append(line)
            if _EPOCH.match(line):
                bar.update()
    if process.returncode:
        raise RuntimeError(f"{name} failed with status {process.returncode}:\n{''.join(lines[-15:])}")
    return "".join(lines)


def _batch_size(facts: dict[str, Any]) -> int:
    return int(next(loader["batch_size"] for loader in facts["loaders"] if loader["training"]))


def _line(lesson: str, epochs: list[tuple[str, str, str]], facts: dict[str, Any]) -> Line:
    speeds = [float(speed) for speed, _, _ in epochs]
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
        handed=fetch["nbytes"] / _batch_size(facts) / 1e3,
        right=int(epochs[-1][1]) / 100,
        samples=epochs[-1][2],
    )

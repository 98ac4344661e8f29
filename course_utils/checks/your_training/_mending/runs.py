"""Runs of a script on drawn photographs, in processes forked from one that has just started."""

import subprocess
import sys
from pathlib import Path
from typing import TypedDict

import numpy as np

from course_utils.checks.core import environment
from course_utils.checks.your_training._mending.log import Event

BOOT = "import sys; sys.path[:] = {path!r}; from {package} import serve; serve()"
SECONDS = 100  # of all runs together
GRID = 8  # a photograph is recognised by the means of so many rows and columns
EPOCHS = 2


class Forward(TypedDict):
    """A batch that went through the network.

    Attributes:
        trains: Whether gradients were computed.
        on_device: Whether it was on the scripted device.
        shape: Its shape.
        colours: Means of `GRID` rows and columns of each photograph, a row a photograph.
        labels: What the loss compared the result with.
        guesses: The classes that the network gave.
    """

    trains: bool
    on_device: bool
    shape: list[int]
    colours: np.ndarray
    labels: list[int]
    guesses: list[int]


class Run(TypedDict):
    """What one run did.

    Attributes:
        forwards: The batches that went through the network.
        events: What happened, see `watch`.
        printed: What the script printed.
        error: The exception that ended it; empty where there was none.
    """

    forwards: list[Forward]
    events: list[Event]
    printed: str
    error: str


class Plan(TypedDict):
    """How to run the script.

    Attributes:
        place: Name of the folder that it runs in; runs in the same one find each other's checkpoint.
        batch: The value of `BATCH`.
        until: How many samples it trains before it is interrupted; 0 for the end.
    """

    place: str
    batch: int
    until: int


def run_all(folder: Path, text: str, labels: list[int], images: int, plans: list[Plan]) -> list[Run]:
    """Run a script as planned, up to the first run that fails.

    Args:
        folder: Holds the photographs, in `data`.
        text: The script.
        labels: All labels.
        images: How many photographs to train.
        plans: The runs.

    Raises:
        TimeoutError: They took too long.
    """
    task = {"folder": str(folder), "text": text, "labels": labels, "images": images, "plans": plans}
    variables = ["CUDA_VISIBLE_DEVICES=", "OMP_NUM_THREADS=1"]
    command = ["env", *variables, sys.executable, "-c", BOOT.format(path=sys.path, package=__package__)]
    try:
        done = subprocess.run(
            command,
            input=environment.pickle.dumps(task),
            capture_output=True,
            timeout=SECONDS,
            cwd=folder,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"its runs together took more than {SECONDS} s") from None
    if done.returncode:
        raise RuntimeError(f"Python ended: {done.stderr.decode(errors='replace')[-300:]}")
    runs: list[Run] = environment.pickle.loads(done.stdout)
    return runs

"""A record of which samples each rank got in each step, to compare runs with each other."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from course_utils.loading import LoaderState
from course_utils.system import write_atomically


@dataclass(frozen=True)
class Step:
    """One step of training.

    Attributes:
        epoch: Number of the epoch.
        samples: Samples of it that all ranks had consumed before.
        labels: Labels of the batch of each rank; empty for a rank without one.
        loss: Mean over the samples of all ranks, before the update.
    """

    epoch: int
    samples: int
    labels: list[list[int]]
    loss: float


class Record:
    """A file with a line of JSON for each step.

    Args:
        path: The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, step: Step) -> None:
        """Write a step, so that it is there even if the process is killed."""
        with self.path.open("a") as file:
            file.write(f"{json.dumps(asdict(step))}\n")

    def resume_at(self, state: LoaderState) -> None:
        """Remove the steps that are repeated after a checkpoint with this state."""
        kept = [
            step for step in self.steps() if (step.epoch, step.samples) < (state["epoch"], state["samples"])
        ]
        write_atomically(self.path, (f"{json.dumps(asdict(step))}\n".encode() for step in kept))

    def steps(self) -> list[Step]:
        """Return the steps so far; a line that a killed process has not finished does not count."""
        if not self.path.exists():
            return []
        lines = self.path.read_text().splitlines(keepends=True)
        return [Step(**json.loads(line)) for line in lines if line.endswith("\n")]


def samples_of(steps: Iterable[Step]) -> list[int]:
    """Return the labels in the order in which the ranks' shared order holds them."""
    return [
        rank[place]
        for step in steps
        for place in range(max(map(len, step.labels)))
        for rank in step.labels
        if place < len(rank)
    ]

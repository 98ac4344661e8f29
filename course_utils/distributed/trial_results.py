"""Start the ranks once, and read what became of them."""

import json
from dataclasses import dataclass
from pathlib import Path

from course_utils.distributed.record import Record, Step
from course_utils.distributed.torchrun import run_ranks, torchrun_command

PROGRAM = "course_utils.distributed.rank_trials"


@dataclass(frozen=True)
class RankOutcome:
    """What became of one rank.

    Attributes:
        rank: Its number.
        batches: Batches that it had.
        steps: Steps that it finished.
        seconds: From its first step to its end or its error.
        error: First line of the error, or an empty string.
    """

    rank: int
    batches: int
    steps: int
    seconds: float
    error: str = ""

    @property
    def verdict(self) -> str:
        """What happened, in words that do not depend on ports and times."""
        if not self.error:
            return "finished"
        if "Timed out" in self.error:
            return "waited until its limit"
        return "was told that the other is gone" if "onnection" in self.error else self.error


@dataclass(frozen=True)
class RankTrials:
    """What ranks did, from one start of torchrun.

    Attributes:
        command: What a user would type.
        steps: An epoch of training by all ranks.
        trials: By the name of the trial, the outcome of each rank that could tell: "join" (rank 0 has one
            batch more, inside `Join`), "idle" (the others have none, inside `Join`), "uneven" (one more,
            without `Join`), "gone" (the last rank has ended its process).
    """

    command: str
    steps: list[Step]
    trials: dict[str, list[RankOutcome]]


def run_rank_trials(
    pack: Path, folder: Path, ranks: int = 2, batch_size: int = 32, waits: float = 2, limit: float = 180
) -> RankTrials:
    """Start ranks by torchrun, on this machine: an epoch of training, and trials with uneven batches.

    Args:
        pack: A pack of images.
        folder: For the results; it is emptied of earlier ones.
        ranks: Number of processes; each imports PyTorch.
        batch_size: Images per rank and step.
        waits: Seconds that a rank waits for the others in a trial.
        limit: Seconds until all of them are killed.

    Raises:
        RanksFailedError: A rank failed in training, or the limit was reached.
    """
    arguments: list[str | Path] = [
        pack,
        "--folder",
        folder,
        "--batch-size",
        str(batch_size),
        "--limit",
        str(waits),
    ]
    for name in ("checkpoint.pt", "record.jsonl", "complete", "trials.json"):
        (folder / name).unlink(missing_ok=True)
    run_ranks(PROGRAM, arguments, ranks, limit)
    found = json.loads((folder / "trials.json").read_text())
    return RankTrials(
        torchrun_command(PROGRAM, arguments, ranks),
        Record(folder / "record.jsonl").steps(),
        {name: [RankOutcome(**one) for one in outcomes] for name, outcomes in found.items()},
    )

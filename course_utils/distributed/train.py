"""Train a small network on a pack of images, on any number of ranks; the same command resumes.

One process:    python -m course_utils.distributed.train part0.zip --folder runs/first
Two processes:  torchrun --nproc-per-node 2 -m course_utils.distributed.train part0.zip --folder runs/first
On a cluster:   python -m course_utils.distributed batch-script part0.zip --folder runs/first

The folder holds checkpoint.pt, and a file named complete when all epochs are done. After SIGUSR1 all ranks
write a checkpoint and end with status 0. --dry-run shows what would be done.
"""

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_utils.distributed.ranks import World
    from course_utils.distributed.training import TrainingJob


class StopSignal:
    """Whether Slurm's warning before the time limit, SIGUSR1, has arrived; it no longer ends this process."""

    def __init__(self) -> None:
        self.arrived = False
        if hasattr(signal, "SIGUSR1"):
            signal.signal(signal.SIGUSR1, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.arrived = True

    def __call__(self) -> bool:
        """Return whether it has arrived."""
        return self.arrived


def main(arguments: list[str] | None = None) -> int:
    """Train; return the exit status, 0 also after a stop."""
    stop = StopSignal()  # before PyTorch is imported, which takes seconds
    options = vars(argument_parser().parse_args(arguments))
    is_dry = options.pop("dry_run")

    from course_utils.data import PackError
    from course_utils.distributed.ranks import OtherRankError, joined
    from course_utils.distributed.run_folder import FolderInUseError
    from course_utils.distributed.training import TrainingJob

    try:
        job = TrainingJob(**options)
        if is_dry:
            sys.stdout.write(_plan(job))
            return 0
        with joined() as world:
            _train(job, world, stop)
    except (ValueError, OSError, PackError, FloatingPointError, FolderInUseError, OtherRankError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _train(job: "TrainingJob", world: "World", stop: StopSignal) -> None:
    from course_utils.distributed.training import Training

    training = Training(job, world)
    is_complete = training.run(stop)
    if world.rank == 0:
        state = training.loader.state_dict()
        stopped = f"stopped in epoch {state['epoch']}, {state['samples']} samples"
        sys.stdout.write(f"{job.folder}: {'complete' if is_complete else stopped}\n")


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; the names are those of `TrainingJob`."""
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.distributed.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pack", type=Path, help="a pack of images with labels, such as zip_encoded/part0.zip")
    parser.add_argument("--folder", type=Path, required=True, help="folder of this run; if it exists, resume")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=32, help="images per rank and step (default: 32)")
    parser.add_argument(
        "--size", type=int, help="of a random crop of each image (default: whole images of the same size)"
    )
    parser.add_argument("--learning-rate", type=float, help="default: that of the checkpoint, or 0.01")
    parser.add_argument("--seed", type=int, default=0, help="of the parameters and of the order (default: 0)")
    parser.add_argument(
        "--save-every", type=int, default=1000, metavar="STEPS", help="between checkpoints (default: 1000)"
    )
    parser.add_argument(
        "--check-every", type=int, default=1, metavar="STEPS",
        help="between two checks for the signal, which wait for all ranks (default: 1)",
    )  # fmt: skip
    parser.add_argument("--record", action="store_true", help="write labels and loss of each step")
    parser.add_argument(
        "--pause", type=float, default=0, metavar="SECONDS", help="after each step, to try signals"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
    return parser


def _plan(job: "TrainingJob") -> str:
    from course_utils.distributed.checkpoint import load_checkpoint

    found = load_checkpoint(job.folder / "checkpoint.pt")
    start = (
        f"epoch {found['loader']['epoch']}, {found['loader']['samples']} samples"
        if found
        else "the beginning"
    )
    return (
        f"train on {job.pack} from {start} to the end of {job.epochs} epochs; checkpoints in {job.folder}\n"
    )


if __name__ == "__main__":
    sys.exit(main())

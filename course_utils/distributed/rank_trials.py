"""What ranks do to each other: trained together, with uneven batches, without any, and when one is gone.

    torchrun --standalone --nproc-per-node=2 -m course_utils.distributed.rank_trials part0.zip --folder runs

Each trial has a time limit. The results are one JSON file, `trials.json`.
"""

import argparse
import json
import os
import re
import sys
import time
from contextlib import nullcontext
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path

import torch
from torch import distributed, nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel

from course_utils.distributed.ranks import World, joined
from course_utils.distributed.training import Training, TrainingJob
from course_utils.distributed.trial_results import RankOutcome

# Seconds after which a rank gives up where no rank should be late, however busy the machine is.
AMPLE = 60

# Batches of rank 0 and of the others, and whether they train inside `Join`.
TRIALS = {
    "join": (3, 2, True),
    "idle": (2, 0, True),
    "uneven": (3, 2, False),
}


def main(arguments: list[str] | None = None) -> int:
    """Run on each rank; rank 0 writes the results."""
    options = vars(argument_parser().parse_args(arguments))
    limit = options.pop("limit")
    torch.set_num_threads(1)
    with joined(on_cpu=True) as world:  # two ranks, and their equal with one process, on any machine
        Training(TrainingJob(**options, record=True), world).run()
        outcomes = {name: world.gather(_train(world, name, limit)) for name in TRIALS}
        gone = _wait_for_rank_that_is_gone(world)
        if world.rank == 0:
            outcomes["gone"] = [gone]
            found = {name: [asdict(one) for one in ranks] for name, ranks in outcomes.items()}
            (options["folder"] / "trials.json").write_text(json.dumps(found))
        sys.stdout.flush()
        os._exit(0)  # the group is broken: leaving it in order would wait for the rank that is gone


def argument_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.distributed.rank_trials",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pack", type=Path, help="a pack of images, on which the ranks train an epoch first")
    parser.add_argument("--folder", type=Path, required=True, help="folder for the results")
    parser.add_argument("--batch-size", type=int, default=32, help="images per rank and step (default: 32)")
    parser.add_argument(
        "--limit", type=float, default=2, help="seconds that a rank waits for the others (default: 2)"
    )
    return parser


def _train(world: World, name: str, limit: float) -> RankOutcome:
    """Train with as many batches as the trial gives this rank; without `Join`, wait only until the limit."""
    first, others, uses_join = TRIALS[name]
    batches = others if world.rank else first
    group = _group(AMPLE if uses_join else limit)
    model = DistributedDataParallel(nn.Linear(2, 1), process_group=group)
    steps, error, start = 0, "", time.perf_counter()
    try:
        with Join([model]) if uses_join else nullcontext():
            for _ in range(batches):
                torch.autograd.backward(model(torch.ones(1, 2)).sum())
                steps += 1
    except RuntimeError as found:
        error = _first_line(found)
    outcome = RankOutcome(world.rank, batches, steps, time.perf_counter() - start, error)
    distributed.barrier()
    return outcome


def _wait_for_rank_that_is_gone(world: World) -> RankOutcome:
    """Let the last rank end its process, and the others wait for it."""
    group = _group(AMPLE)
    distributed.barrier(group)
    if world.rank == world.size - 1:
        os._exit(0)
    start, error = time.perf_counter(), ""
    try:
        distributed.all_reduce(torch.zeros(1), group=group)
    except RuntimeError as found:
        error = _first_line(found)
    return RankOutcome(world.rank, 1, 0, time.perf_counter() - start, error)


def _group(limit: float) -> distributed.ProcessGroup:
    distributed.barrier()  # the limit holds for connecting, too
    group = distributed.new_group(timeout=timedelta(seconds=limit))
    assert isinstance(group, distributed.ProcessGroup)  # all ranks are members
    return group


def _first_line(error: BaseException) -> str:
    """Return the first sentence of an error, without the place in the source of gloo."""
    return re.sub(r"^\[[^\]]*\] *", "", str(error).splitlines()[0]).split(". ")[0]


if __name__ == "__main__":
    sys.exit(main())

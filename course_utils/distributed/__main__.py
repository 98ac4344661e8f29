"""Commands for a cluster: `python -m course_utils.distributed batch-script --help`."""

import argparse
import subprocess
import sys
from pathlib import Path

from course_utils.distributed.batch import PRESETS, JobScript


def main(arguments: list[str] | None = None) -> int:
    """Write, submit or show a batch script; return the exit status."""
    options, training = _parser().parse_known_args(arguments)
    preset = PRESETS[options.preset]
    if options.ranks_per_node:
        preset = preset._replace(ranks_per_node=options.ranks_per_node)
    script = JobScript(
        options.pack, options.folder, preset, tuple(training), nodes=options.nodes, time=options.time,
        warning=options.warning, account=options.account, stage=options.stage,
    )  # fmt: skip
    if options.dry_run:
        sys.stdout.write(script.text)
        return 0
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "job.sh"
    path.write_text(script.text)
    if not options.submit:
        sys.stdout.write(f"{path}: submit it by sbatch {path}\n")
        return 0
    try:
        return subprocess.run(["sbatch", path], check=False).returncode
    except FileNotFoundError:
        sys.stderr.write(f"There is no sbatch on this machine: submit {path} where Slurm is.\n")
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m course_utils.distributed", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    text = "write a batch script that trains until it is done, over as many time limits as that takes"
    command = commands.add_parser(
        "batch-script", help=text, description=f"{text}. Other options go to course_utils.distributed.train."
    )
    command.add_argument("pack", type=Path, help="a pack of images that all nodes can read")
    command.add_argument("--folder", type=Path, required=True, help="for the script, checkpoint and results")
    command.add_argument("--preset", choices=PRESETS, default="cpu", help="the system (default: cpu)")
    command.add_argument("--nodes", type=int, default=1)
    command.add_argument("--ranks-per-node", type=int, help="default: the preset's, one per GPU")
    command.add_argument("--time", default="01:00:00", help="time limit (default: 01:00:00)")
    command.add_argument(
        "--warning", type=int, default=120, metavar="SECONDS",
        help="from the signal to the time limit: more than a step and a checkpoint take (default: 120)",
    )  # fmt: skip
    command.add_argument("--account", default="", help="account to charge (default: yours)")
    command.add_argument(
        "--stage", action="store_true",
        help="copy the pack to storage of each node first, and train on the copies (course_utils.scratch)",
    )  # fmt: skip
    command.add_argument("--submit", action="store_true", help="submit the script")
    command.add_argument("--dry-run", action="store_true", help="print the script; write and submit nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())

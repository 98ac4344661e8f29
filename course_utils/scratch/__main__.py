"""Bring a data set to this node's own storage, once for all of its processes."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from course_utils.scratch.archives import SQUASHFS
from course_utils.scratch.presets import PRESETS, ScratchError, expiry_of, find_scratch
from course_utils.scratch.progress import told
from course_utils.scratch.staged_set import is_whole, place_of, read_manifest
from course_utils.scratch.staging import resolved, stage_set
from course_utils.scratch.storage_kind import storage_of
from course_utils.scratch.transfer import (
    WAYS,
    broadcast_command,
    choose_way,
    mount_command,
    staged_name,
)

EXAMPLES = """examples:
  python -m course_utils.scratch where "$TMPDIR" /dev/shm
  python -m course_utils.scratch stage /project/data/train.tar --preset snellius
  cd "$(python -m course_utils.scratch stage train.tar --unpack)"

In a batch script, one process of each node, or all of them:
  srun --ntasks-per-node=1 python -m course_utils.scratch stage train.tar
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Returns:
        0 on success, 1 after an error that was reported, 130 if it was interrupted.
    """
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except (ScratchError, OSError) as error:
        sys.stderr.write(f"scratch: {error}\n")
        return 1
    except subprocess.CalledProcessError as error:
        sys.stderr.write(f"scratch: {error.cmd[0]} ended with status {error.returncode}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("scratch: interrupted; the same command begins again\n")
        return 130
    return 0


def _stage(options: argparse.Namespace) -> None:
    scratch = options.scratch or find_scratch(os.environ, options.preset)
    source = resolved(options.source)
    way = choose_way(source, "unpack" if options.unpack else "auto")
    if expiry := expiry_of(resolved(scratch)):
        sys.stderr.write(f"scratch: {expiry}\n")
    if options.dry_run:
        _tell_plan(source, scratch, way, options.sbcast)
    elif options.sbcast:
        _broadcast(source, place_of(source, scratch, way).broadcast)
    else:
        if storage_of(scratch).kind == "network":
            sys.stderr.write(f"scratch: {scratch} is {storage_of(scratch)}\n")
        size = source.stat().st_size if way == "copy" else None
        with told(source.name, size, place_of(source, resolved(scratch), way)) as tell:
            calls = (tell.copied, tell.waits, tell.replaces)
            staged = stage_set(source, scratch, way, options.verify, *calls)
        _say(str(staged.path))


def _tell_plan(source: Path, scratch: Path, way: str, sbcast: bool) -> None:
    place = place_of(source, resolved(scratch), way)
    manifest = read_manifest(place.folder)
    path = place.data / staged_name(source, way)
    staged = manifest is not None and is_whole(place.folder, manifest, verify=False)
    _say(f"source:  {source}, on {storage_of(source)}")
    _say(f"scratch: {scratch}, on {storage_of(scratch)}")
    if source.is_file():
        _say(f"bytes:   {source.stat().st_size:,}")
    _say(f"way:     {way}: {WAYS[way]}" + (", once per node" if not sbcast else ""))
    _say(f"path:    {path}" + (" (is there already)" if staged else ""))
    if source.is_file():
        _say("sbcast:  " + " ".join(broadcast_command(source, place.broadcast)))
    if source.suffix in SQUASHFS:
        mount = " ".join(mount_command(path, Path("MOUNTPOINT")))
        _say(f"mount:   {mount or 'neither squashfuse nor root: use --unpack'}")


def _broadcast(source: Path, target: Path) -> None:
    if not shutil.which("sbcast") or "SLURM_JOB_ID" not in os.environ:
        raise ScratchError("--sbcast works within a Slurm job alone; --dry-run shows the command")
    subprocess.run(broadcast_command(source, target), check=True)
    _say(str(target))


def _where(options: argparse.Namespace) -> None:
    for path in options.folder or [find_scratch(os.environ)]:
        storage = storage_of(path)
        _say(f"{path}: {storage}; quota: {storage.quota_command}")
        if expiry := expiry_of(Path(os.path.realpath(path))):
            _say(f"    {expiry}")


def _presets(_: argparse.Namespace) -> None:
    for name, preset in PRESETS.items():
        _say(f"{name}: {preset.site}, {preset.folder} ({preset.kind}). {preset.note}")
        _say(f"    {preset.request + '; ' if preset.request else ''}{preset.url}, read on {preset.read}")


def _say(line: str) -> None:
    """Write a line; a path with bytes that are not UTF-8 is written as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(os.fsencode(f"{line}\n"))
    sys.stdout.buffer.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.scratch",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    stage = commands.add_parser(
        "stage",
        help="stage a file or a folder, and print its path",
        description="Copies a data set to this node, unless it is there already, and prints the path to "
        "read. Any number of processes and jobs may ask at the same time: one copies, the others wait, and "
        "say for whom. A copy lies in a folder that only you can open. What a killed process leaves is never "
        "taken for a set, and the next call removes it. A source that is damaged or changes while it is "
        "copied is an error.",
    )
    stage.set_defaults(command=_stage)
    stage.add_argument("source", type=Path, help="a packed file (best), or a folder of files")
    where = stage.add_mutually_exclusive_group()
    where.add_argument("--scratch", type=Path, metavar="DIR", help="a folder on storage of this node")
    where.add_argument(
        "--preset", default="", metavar="NAME", help=f"where a site has it: {', '.join(PRESETS)}"
    )
    stage.add_argument("--unpack", action="store_true", help="unpack a tar or squashfs file on the node")
    stage.add_argument(
        "--verify",
        action="store_true",
        help="compare checksums of a set that is there already, but not with the source",
    )
    stage.add_argument(
        "--sbcast",
        action="store_true",
        help="in a Slurm job: send one file to DIR on all its nodes; run it once per job, before srun",
    )
    stage.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    kinds = commands.add_parser(
        "where", help="say whether folders are on a disk, in memory or on the network"
    )
    kinds.set_defaults(command=_where)
    kinds.add_argument(
        "folder", type=Path, nargs="*", help="folders (default: the scratch folder found here)"
    )
    presets = commands.add_parser("presets", help="list where sites have node-local storage, with sources")
    presets.set_defaults(command=_presets)
    return parser


if __name__ == "__main__":
    sys.exit(main())

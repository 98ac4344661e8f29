"""Parse the command line, run a command and report its errors."""

import argparse
import errno
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from course_utils.data import PackError
from course_utils.paths import requested_dir
from data_setup import commands
from data_setup.format.errors import SetupError
from data_setup.format.layout import TOKENS

PHOTOS_MB = 475  # the default set; README says so, too
TOKENS_MB = 10


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Returns:
        0 on success; 1 after an error that was reported; 130 if it was interrupted.
    """
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except (PackError, SetupError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(_explain(error))
    except KeyboardInterrupt:
        _fail("interrupted; run the same command again to resume")
        return 130
    return 0


def _fail(message: str) -> int:
    print(f"data_setup: {message}", file=sys.stderr)
    return 1


def _explain(error: OSError) -> str:
    where = error.filename or "the target"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk or your quota is full. Make room, then run the same command again to resume."
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        reason = f"{where} cannot be written ({error.strerror})"
        return f"{reason}; choose another folder: COURSE_DATA=FOLDER, or --out"
    if error.errno == errno.EFBIG:
        return f"{where} would be larger than a file may be here; raise the limit (`ulimit -f unlimited`)"
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return f"{where} is a file, not a folder; choose another folder: COURSE_DATA=FOLDER, or --out"
    return f"{where}: {error.strerror or error}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m data_setup", description="Makes, packs and verifies the data of the course."
    )
    add = partial(_add, parser.add_subparsers(required=True, metavar="COMMAND"))
    data = requested_dir() or Path("data")
    photos = add(
        commands.photos,
        "make a set from photographs that need no download",
        "Crops images from the freely licensed photographs in scikit-image and scikit-learn "
        f"(credits: data_setup/CREDITS.md). 2,000 images take {PHOTOS_MB} MB.",
    )
    photos.add_argument(
        "--if-missing",
        action="store_true",
        help="do nothing if the folder already holds a set, whoever made it",
    )
    full_size = add(
        commands.full_size,
        "make a pack of full-size photographs, for the benchmark of loaders",
        "Makes large crops of the same photographs in mixed sizes around 500x375, as ImageNet's, "
        "as packed JPEG files only. No lesson needs them. 2,000 images take 100 MB.",
    )
    imagenet = add(
        commands.imagenet,
        "make a set from ImageNet, or from other images that you have",
        "Takes a random sample of a collection of images, crops the middle square of each and "
        "resamples it to 256x256. 10,000 images take 2.3 GB. The checksums of a zip are compared. A tar has "
        "none: compare the MD5 of ILSVRC2012_img_val.tar with 29b22e2961454d5413ddabcf34fc5622 (md5sum). "
        "data_setup/pack_array.sh packs a large collection with a Slurm job array.",
    )
    imagenet.add_argument(
        "source",
        type=Path,
        help="ILSVRC2012_img_val.tar, another tar or zip, or a folder; it is not unpacked",
    )
    imagenet.add_argument(
        "--labels",
        type=Path,
        help="ILSVRC2012_validation_ground_truth.txt (one number per line, in the order of the file names), "
        "or pairs of name and label as text, CSV or JSON; without it, each folder is a class",
    )
    imagenet.add_argument(
        "--yes", action="store_true", help="do not ask about an odd number of classes (one, or nearly all)"
    )
    _add_tokens(add, data / TOKENS)
    for command, count in ((photos, 2000), (full_size, 2000), (imagenet, None)):
        _add_out(command, data.with_name(f"{data.name}_full_size") if command is full_size else data)
        stated = "%(default)s" if count else "10,000, or all if there are fewer"
        command.add_argument(
            "--count", type=_positive, default=count, help=f"number of images (default: {stated})"
        )
        command.add_argument(
            "--seed", type=_not_negative, default=0, help="seed of the random choice (default: %(default)s)"
        )
        command.add_argument(
            "--shards", type=_positive, default=1, help="archives per packed form (default: %(default)s)"
        )
        command.add_argument(
            "--shard",
            type=_not_negative,
            help="make only this one, counted from 0; the command without this option makes what is missing",
        )
        command.add_argument("--workers", type=_positive, help="how many at once (default: the usable cores)")
    _add_out(add(commands.verify, "find every changed, missing or extra file of a set"), data)
    _add_out(add(commands.info, "describe a set: source, size and number of files"), data)
    adopt = add(
        commands.adopt,
        "check a set without a manifest, and write one",
        "Checks that labels, names and pixels agree across the three forms, infers the layout of the raw "
        "pixels, reports oddities and writes manifest.json; adds the layout to dataset.json of raw archives "
        "that do not state it; changes nothing else.",
    )
    _add_out(adopt, data)
    bench = add(
        commands.bench,
        "compare the speed of making sets with that of the pixel work alone",
        "Prints images per second and ratios. On ext4, wait five minutes after deleting thousands of files: "
        "until then, creating a file must skip their inodes.",
    )
    for name, default, what in (("--count", 4000, "images per round"), ("--rounds", 5, "number of rounds")):
        bench.add_argument(name, type=_positive, default=default, help=f"{what} (default: %(default)s)")
    bench.add_argument("--workers", type=_positive, help="number of processes (default: the usable cores)")
    bench.add_argument("--scratch", type=Path, help="folder for temporary sets (default: that of the system)")
    return parser


def _add_tokens(add: Callable[..., argparse.ArgumentParser], out: Path) -> None:
    tokens = add(
        commands.tokens,
        "make a set of tokens from docstrings of installed packages, for lesson 07",
        "Reads the docstrings in the source of Python, NumPy, SciPy, scikit-learn and PyTorch, and trains "
        f"a tokenizer on them, without download (credits: data_setup/CREDITS.md). It takes {TOKENS_MB} MB.",
    )
    tokens.add_argument(
        "--if-missing", action="store_true", help="do nothing if the folder already holds a set of tokens"
    )
    tokens.add_argument(
        "--every", type=_positive, default=1, help="read every this many files only (default: %(default)s)"
    )
    tokens.add_argument("--workers", type=_positive, help="how many at once (default: the usable cores)")
    _add_out(tokens, out)


def _add(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
    command: Callable[[argparse.Namespace], None],
    title: str,
    description: str | None = None,
) -> argparse.ArgumentParser:
    """Add a command under the name of its function."""
    parser = subparsers.add_parser(command.__name__, help=title, description=description)
    parser.set_defaults(command=command)
    return parser


def _add_out(command: argparse.ArgumentParser, folder: Path) -> None:
    command.add_argument(
        "--out",
        type=Path,
        default=folder,
        help="folder of the set (default: %(default)s; COURSE_DATA and TEACHER_DIR change it)",
    )


def _positive(text: str) -> int:
    return _at_least(1, text)


def _not_negative(text: str) -> int:
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is less than {least}")
    return number

"""The command line: `python -m data_setup --help`."""

import argparse
import errno
import sys
from collections.abc import Callable
from pathlib import Path

from course_utils.paths import requested_dir
from data_setup import commands
from data_setup.format import SetupError


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Returns:
        0; 1 if it could not do what it was asked for, and said why; 130 if it was interrupted.
    """
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
    except SetupError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(_explain(error))
    except KeyboardInterrupt:
        _fail("stopped; the same command goes on from here")
        return 130
    return 0


def _fail(message: str) -> int:
    print(f"data_setup: {message}", file=sys.stderr)
    return 1


def _explain(error: OSError) -> str:
    where = error.filename or "the target"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            "the disk or your quota is full. Make room and run the same command again: it goes on from here."
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return f"{where} cannot be written ({error.strerror}); choose another folder with --out"
    return f"{where}: {error.strerror or error}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m data_setup",
        description="Makes, packs and verifies the data of the course.",
    )
    adder = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_photos(adder)
    _add_imagenet(adder)
    _add_merge(adder)
    _add_reading(adder)
    _add_bench(adder)
    return parser


def _add_photos(adder: argparse._SubParsersAction) -> None:
    photos = _add(
        adder,
        commands.photos,
        "make a set from photographs that need no download",
        "Makes images from the freely licensed photographs in scikit-image and scikit-learn "
        "(credits: data_setup/CREDITS.md). 2,000 images take 460 MB.",
    )
    photos.add_argument("--count", type=_positive, default=2000, help="how many (default: %(default)s)")
    photos.add_argument(
        "--if-missing",
        action="store_true",
        help="be content with any set that is there already, whoever made it",
    )
    _add_making(photos)


def _add_imagenet(adder: argparse._SubParsersAction) -> None:
    imagenet = _add(
        adder,
        commands.imagenet,
        "make a set from ImageNet, or from any images that you have",
        "Takes a random sample of a collection of images, cuts out the middle square of each and "
        "resamples it to 256x256. 10,000 images take 2.3 GB.",
    )
    imagenet.add_argument(
        "source", type=Path, help="ILSVRC2012_img_val.tar, another tar or zip, or a folder; never unpacked"
    )
    imagenet.add_argument(
        "--labels",
        type=Path,
        help="ILSVRC2012_validation_ground_truth.txt (a number a line, in the order of the file names), or "
        "pairs of name and label as text, CSV or JSON; without it the folders are the classes",
    )
    imagenet.add_argument("--count", type=_positive, help="how many (default: 10,000, or all there are)")
    _add_making(imagenet)


def _add_merge(adder: argparse._SubParsersAction) -> None:
    merge = _add(
        adder,
        commands.merge,
        "give shards that were made one by one their manifest and their final names",
        "The last step after every shard was made with --shard; see data_setup/pack_array.sh.",
    )
    _add_out(merge)


def _add_reading(adder: argparse._SubParsersAction) -> None:
    _add_out(_add(adder, commands.verify, "find any flipped byte, missing or extra file of a set"))
    _add_out(_add(adder, commands.info, "say what is there, how big it is and how many files it costs"))
    adopt = _add(
        adder,
        commands.adopt,
        "check a set that exists already, and write its manifest",
        "Checks that labels, names and pictures agree across the three forms, finds out how raw "
        "pixels are laid out, reports what is odd and writes manifest.json; changes nothing else.",
    )
    _add_out(adopt)


def _add_bench(adder: argparse._SubParsersAction) -> None:
    bench = _add(
        adder,
        commands.bench,
        "compare the making of sets with the bare work on their pixels",
        "Prints images per second and ratios, with and without the writing. On ext4, wait five minutes after "
        "thousands of files were deleted: until then each new file is made by stepping over their inodes.",
    )
    bench.add_argument("--count", type=_positive, default=4000, help="images a round (default: %(default)s)")
    bench.add_argument("--rounds", type=_positive, default=5, help="default: %(default)s")
    bench.add_argument("--workers", type=_positive, help="processes (default: the cores you may use)")
    bench.add_argument("--scratch", type=Path, help="where sets are made (default: the temporary folder)")


def _add(
    adder: argparse._SubParsersAction,
    command: Callable[[argparse.Namespace], None],
    title: str,
    description: str | None = None,
) -> argparse.ArgumentParser:
    """Add a command under the name of the function that does it."""
    parser = adder.add_parser(command.__name__, help=title, description=description)
    parser.set_defaults(command=command)
    return parser


def _add_making(command: argparse.ArgumentParser) -> None:
    _add_out(command)
    command.add_argument("--seed", type=int, default=0, help="which images (default: %(default)s)")
    command.add_argument("--shards", type=_positive, default=1, help="archives a form (default: %(default)s)")
    command.add_argument("--shard", type=int, help="make only this one (from 0); `merge` when all are made")
    command.add_argument("--workers", type=_positive, help="processes (default: the cores you may use)")


def _add_out(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--out",
        type=Path,
        default=requested_dir() or Path("data"),
        help="the folder of the set (default: %(default)s; COURSE_DATA and TEACHER_DIR change it)",
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number

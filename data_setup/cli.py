"""Parse the command line, run a command and report its errors."""

import argparse
import errno
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.data import PackError
from course_utils.paths import requested_dir
from data_setup import commands
from data_setup.format import SetupError

PHOTOS_MB = 475  # the default set; README says so, too

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


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
        prog="python -m data_setup",
        description="Makes, packs and verifies the data of the course.",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_photos(subparsers)
    _add_full_size(subparsers)
    _add_imagenet(subparsers)
    _add_merge(subparsers)
    _add_inspection(subparsers)
    _add_bench(subparsers)
    return parser


def _add_photos(subparsers: "Subparsers") -> None:
    photos = _add(
        subparsers,
        commands.photos,
        "make a set from photographs that need no download",
        "Crops images from the freely licensed photographs in scikit-image and scikit-learn "
        f"(credits: data_setup/CREDITS.md). 2,000 images take {PHOTOS_MB} MB.",
    )
    photos.add_argument(
        "--count", type=_positive, default=2000, help="number of images (default: %(default)s)"
    )
    photos.add_argument(
        "--if-missing",
        action="store_true",
        help="do nothing if the folder already holds a set, whoever made it",
    )
    _add_set_options(photos)


def _add_full_size(subparsers: "Subparsers") -> None:
    full_size = _add(
        subparsers,
        commands.full_size,
        "make a pack of full-size photographs, for the benchmark of loaders",
        "Makes large crops of the same photographs in mixed sizes around 500x375, as ImageNet's, "
        "as packed JPEG files only. No lesson needs them. 2,000 images take 100 MB.",
    )
    full_size.add_argument(
        "--count", type=_positive, default=2000, help="number of images (default: %(default)s)"
    )
    _add_out(full_size, _data_folder().with_name(f"{_data_folder().name}_full_size"))
    _add_common(full_size)


def _add_imagenet(subparsers: "Subparsers") -> None:
    imagenet = _add(
        subparsers,
        commands.imagenet,
        "make a set from ImageNet, or from other images that you have",
        "Takes a random sample of a collection of images, crops the middle square of each and "
        "resamples it to 256x256. 10,000 images take 2.3 GB. The checksums of a zip are compared. A tar has "
        "none: compare the MD5 of ILSVRC2012_img_val.tar with 29b22e2961454d5413ddabcf34fc5622 (md5sum).",
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
        "--count", type=_positive, help="number of images (default: 10,000, or all if there are fewer)"
    )
    imagenet.add_argument(
        "--yes", action="store_true", help="do not ask about an odd number of classes (one, or nearly all)"
    )
    _add_set_options(imagenet)


def _add_merge(subparsers: "Subparsers") -> None:
    merge = _add(
        subparsers,
        commands.merge,
        "publish a set whose shards were made one by one",
        "Writes the manifest and moves the files to their final names, after every shard was made with "
        "--shard; see data_setup/pack_array.sh.",
    )
    _add_out(merge)


def _add_inspection(subparsers: "Subparsers") -> None:
    _add_out(_add(subparsers, commands.verify, "find every changed, missing or extra file of a set"))
    _add_out(_add(subparsers, commands.info, "describe a set: source, size and number of files"))
    adopt = _add(
        subparsers,
        commands.adopt,
        "check a set without a manifest, and write one",
        "Checks that labels, names and pixels agree across the three forms, infers the layout of the raw "
        "pixels, reports oddities and writes manifest.json; adds the layout to dataset.json of raw archives "
        "that do not state it; changes nothing else.",
    )
    _add_out(adopt)


def _add_bench(subparsers: "Subparsers") -> None:
    bench = _add(
        subparsers,
        commands.bench,
        "compare the speed of making sets with that of the pixel work alone",
        "Prints images per second and ratios, with and without writing files. On ext4, wait five minutes "
        "after deleting thousands of files: until then, creating a file must skip their inodes.",
    )
    bench.add_argument(
        "--count", type=_positive, default=4000, help="images per round (default: %(default)s)"
    )
    bench.add_argument("--rounds", type=_positive, default=5, help="number of rounds (default: %(default)s)")
    bench.add_argument("--workers", type=_positive, help="number of processes (default: the usable cores)")
    bench.add_argument("--scratch", type=Path, help="folder for temporary sets (default: that of the system)")


def _add(
    subparsers: "Subparsers",
    command: Callable[[argparse.Namespace], None],
    title: str,
    description: str | None = None,
) -> argparse.ArgumentParser:
    """Add a command under the name of its function."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        command.__name__, help=title, description=description
    )
    parser.set_defaults(command=command)
    return parser


def _add_set_options(command: argparse.ArgumentParser) -> None:
    _add_out(command)
    _add_common(command)
    command.add_argument("--shard", type=int, help="make only this one, counted from 0; then `merge`")


def _add_common(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--seed", type=_not_negative, default=0, help="seed of the random choice (default: %(default)s)"
    )
    command.add_argument(
        "--shards", type=_positive, default=1, help="archives per packed form (default: %(default)s)"
    )
    command.add_argument("--workers", type=_positive, help="how many at once (default: the usable cores)")


def _data_folder() -> Path:
    return requested_dir() or Path("data")


def _add_out(command: argparse.ArgumentParser, folder: Path | None = None) -> None:
    command.add_argument(
        "--out",
        type=Path,
        default=folder or _data_folder(),
        help="folder of the set (default: %(default)s; COURSE_DATA and TEACHER_DIR change it)",
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _not_negative(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is less than 0")
    return number

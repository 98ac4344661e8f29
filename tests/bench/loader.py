"""Benchmark of the course's loader and of other loading libraries.

All loaders get the same JPEG images and the same cores and have to give the same output: whole images are
compared with those of another decoder, the parameters of random crops with torchvision's distribution. Each
measurement runs in a fresh process, and the rounds are interleaved. Prints a table, also written as JSON and
PNG.

    python -m tests.bench.loader                # images of one size, all loaders: about 20 minutes
    python -m tests.bench.crops                 # random crops of full-size photographs: about 10 minutes
    python -m tests.bench.loader --delayed      # from files whose requests take 1 ms: about 10 minutes
    python -m tests.bench.loader --record       # also the ratios that the book shows
    python -m tests.bench.crops --imagenet-sizes    # saved again, so that a file is as large as in ImageNet
    python -m tests.bench.crops --record        # also the ratios that the book shows
    python -m tests.bench.loader --checksums    # the CPU time of checksums: less than a minute
    python -m tests.bench.loader --cold         # epochs from the disk: three minutes
    python -m tests.bench.crops --data /data/ILSVRC2012_img_val --images 2000     # of photographs of your own
    python -m tests.bench.loader --rounds 1 --only FastLoader DALI limit

A command that was killed resumes: the same command again measures only the rounds that it had not finished.
"""

import argparse
import compileall
import hashlib
import json
import tempfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import course_utils
from course_utils.storage import page_cache
from course_utils.system import usable_cores
from tests.bench.crop_record import record as crop_record
from tests.bench.delayed import record as delayed_record
from tests.bench.delayed.mount import largest, mounted, request_ms
from tests.bench.loading import checksums, cold_epochs, record
from tests.bench.loading.peer import Peer, peers
from tests.bench.loading.photographs import IMAGENET_SIZES, default_data, resave, unpack
from tests.bench.loading.report import crop_lines, plot, table
from tests.bench.loading.tasks import compare_crops, measure_round, operations, write
from tests.bench.recording.environment import environment
from tests.bench.recording.journal import Journal

LIBRARIES = (
    "torch", "torchcodec", "torchvision", "pillow", "simplejpeg", "turbojpeg", "nvidia-dali-cuda130", "ffcv",
    "spdl", "grain",
)  # fmt: skip
IMAGES = "images"  # the work without an option
WORK = {
    "crops": "random crops of full-size photographs",
    "delayed": "images of one size, from files whose requests take a millisecond",
}
COLD_EPOCH = "a later one too, or the first one of a loader that keeps the files mapped"
# The code that is measured.
MEASURED = (
    "course_utils/cropping/**/*.py", "course_utils/data/**/*.py", "course_utils/loading/**/*.py",
    "tests/bench/delayed/*.py", "tests/bench/loading/child.py", "tests/bench/loading/peers/**/*.py",
)  # fmt: skip


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    work = parser.add_mutually_exclusive_group()
    parser.set_defaults(work=IMAGES)
    for name, told in WORK.items():
        work.add_argument(f"--{name}", dest="work", action="store_const", const=name, help=told)
    alone = parser.add_mutually_exclusive_group()
    alone.add_argument("--checksums", action="store_true", help="CPU time of FastLoader's checksums only")
    alone.add_argument("--cold", action="store_true", help="FastLoader's epochs from the disk only")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--data",
        type=Path,
        help="photographs of your own: a data set, a zip of JPEG files, or a folder of zips or JPEG files",
    )
    source.add_argument(
        "--imagenet-sizes",
        action="store_true",
        help="those of --crops, saved again with as many bytes as ImageNet's",
    )
    parser.add_argument("--images", type=positive, help="how many of them, the first ones (all)")
    parser.add_argument("--batch-size", type=positive, default=64)
    parser.add_argument(
        "--epochs", type=positive, default=3, help="warm epochs in each process (%(default)s)"
    )
    parser.add_argument(
        "--rounds", type=int, help="(3; 15 with --checksums, --cold; 0 compares only the crops)"
    )
    parser.add_argument("--cores", type=positive, nargs="+", help="(1 and all; all with --crops)")
    parser.add_argument(
        "--only", nargs="+", default=[""], help="measure only loaders with one of these words in the name"
    )
    parser.add_argument(
        "--compare", action=argparse.BooleanOptionalAction, default=True, help="compare the crops first"
    )
    parser.add_argument("--operations", action=argparse.BooleanOptionalAction, help="(of images of one size)")
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    parser.add_argument("--record", action="store_true", help="write what the book shows of it")
    args = parser.parse_args(arguments)
    refuse_contradictions(parser, args)
    args.cores = args.cores or sorted({usable_cores()} if args.work == "crops" else {1, usable_cores()})
    args.rounds = args.rounds if args.rounds is not None else 15 if args.checksums or args.cold else 3
    args.operations = args.work == IMAGES if args.operations is None else args.operations
    return args


def refuse_contradictions(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """End with what to leave out, where options do not go together."""
    if args.checksums or args.cold:
        kept = {"checksums", "cold", "rounds", "record"}
        changed = [key for key, value in vars(args).items() if value != parser.get_default(key)]
        names = [args.work if key == "work" else key.replace("_", "-") for key in changed if key not in kept]
        if names:
            parser.error(
                "--checksums and --cold have photographs and settings of their own: leave out "
                + ", ".join(f"--{name}" for name in names)
            )
    if args.imagenet_sizes and args.work != "crops":
        parser.error("--imagenet-sizes saves the photographs of --crops again: add --crops")
    if args.rounds == 0 and args.work != "crops":
        parser.error("--rounds 0 only compares crops: add --crops, or measure a round")
    if not chosen_peers(args):
        parser.error(f"--only {' '.join(args.only)}: no loader of this work has such a word in its name")


def chosen_peers(args: argparse.Namespace) -> dict[str, Peer]:
    """Return the loaders and limits of this work that the command line names."""
    known = {name: peer for name, peer in peers().items() if args.work in peer.work}
    return {name: peer for name, peer in known.items() if any(word in name for word in args.only)}


def positive(text: str) -> int:
    """Return a number of at least 1; ValueError for another text."""
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark."""
    args = parse(arguments)
    if args.checksums:
        checksums.main(args.rounds, args.record)
        return
    if args.cold:
        cold_epochs.main(args.rounds, args.record)
        return
    args.out.mkdir(parents=True, exist_ok=True)
    compileall.compile_dir(*course_utils.__path__, quiet=1)  # installed libraries are compiled too
    chosen = chosen_peers(args)
    with tempfile.TemporaryDirectory(dir=args.out) as folder:
        report = measured(args, chosen, Path(folder).resolve())
    if not args.rounds:
        print("\n".join(crop_lines(report)))
        return
    name = "loader" if args.work == IMAGES else args.work
    (args.out / f"{name}.json").write_text(json.dumps(report, indent=1))
    print(table(report))
    plot(report, args.out / f"{name}.png")
    if args.record:
        {IMAGES: record, "crops": crop_record, "delayed": delayed_record}[args.work].write_record(report)


def measured(args: argparse.Namespace, chosen: dict[str, Peer], folder: Path) -> dict:
    """Measure what the journal does not hold yet; return everything that the table tells."""
    crops, delayed = args.work == "crops", args.work == "delayed"
    images, digest = unpack(args.data or default_data(crops), folder / "originals", args.images)
    report = {"work": args.work, "images": images, "batch_size": args.batch_size, **environment(*LIBRARIES)}
    report["cold_epoch"] = COLD_EPOCH
    report["data"] = f"of `{args.data.resolve().name}`" if args.data else ""
    if args.imagenet_sizes:
        report["data"], digest = IMAGENET_SIZES, resave(folder / "originals")
    settings = {"photographs": digest, "code": code(), "loaders": list(chosen), "cores": args.cores}
    journal = Journal(args.out / f"{args.work}.journal", report | settings | {"epochs": args.epochs})
    common = {"originals": str(folder / "originals"), "batch_size": args.batch_size, "epochs": args.epochs}
    loaders = [name for name, peer in chosen.items() if not peer.limit]
    compare = partial(compare_crops, loaders, folder, args.batch_size)
    report["crops"] = journal.once("crops", compare) if crops and args.compare else {}
    written = write(list(chosen), folder / "formats", common) if args.rounds else {}
    specs = {
        name: common | {"peer": name, "delayed": delayed} | made
        for name, made in written.items()
        if "folder" in made
    }
    counted = [name for name in specs if args.operations and name in loaders]
    report["operations"] = {
        name: journal.once(f"operations of {name}", partial(operations, specs[name], folder))
        for name in counted
    }
    failed = {name: made["error"] for name, made in written.items() if "error" in made}
    with mounted(folder / "formats") if delayed else nullcontext():
        if delayed:
            report["request_ms"] = request_ms(largest(folder / "formats"))
        rows = rounds(args, specs, failed, folder, journal)
    report |= {"rounds": args.rounds, "rows": rows, "missing": failed}
    report |= {"uncached": page_cache.why_not_measurable(folder)}
    return report | {
        key: {name: getattr(peer, key) for name, peer in chosen.items()} for key in ("decoder", "output")
    }


def rounds(
    args: argparse.Namespace, specs: dict[str, dict], failed: dict[str, str], folder: Path, journal: Journal
) -> list[dict]:
    """Return what each round found of each loader; a loader that fails is added to `failed` and left out."""
    rows: list[dict] = []
    for number in range(args.rounds):
        sound = {name: spec for name, spec in specs.items() if name not in failed}
        measure = partial(measure_round, sound, number, args.cores, folder)
        rows += journal.once(f"round {number}", measure)
        failed |= {row["loader"]: row["error"] for row in rows if "error" in row}
    return rows


def code() -> str:
    """Return a hash of the code that is measured."""
    root, digest = Path(__file__).parents[2], hashlib.sha256()
    for pattern in MEASURED:
        for path in sorted(root.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    main()

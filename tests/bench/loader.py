"""Benchmark of the course's loader and of other loading libraries.

All loaders get the same JPEG images and the same cores and have to give the same output: whole images are
compared with those of another decoder, the parameters of random crops with torchvision's distribution. Each
measurement runs in a fresh process, and the rounds are interleaved. Prints a table, also written as JSON and
PNG.

    python -m tests.bench.loader                      # images of one size, all loaders: about 20 minutes
    python -m tests.bench.crops                       # random crops of full-size photographs: as long
    python -m tests.bench.loader --record             # also the ratios that lesson 04 shows
    python -m tests.bench.loader --rounds 1 --only FastLoader DALI limit
"""

import argparse
import compileall
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

from tqdm import tqdm

import course_utils
from course_utils.paths import data_dir
from course_utils.storage import page_cache
from course_utils.system import usable_cores
from tests.bench.loading.child import run_task
from tests.bench.loading.crop_parameters import charts
from tests.bench.loading.peer import peers
from tests.bench.loading.record import RECORD, environment, recorded, write_to_lesson
from tests.bench.loading.report import plot, table

TIMEOUT_S = 900
FRESH = multiprocessing.get_context("forkserver")
FRESH.set_forkserver_preload(["torchvision", "tests.bench.loading.child"])  # imports torch only once
OPERATIONS = "openat,open,stat,newfstatat,fstat,statx,lseek,read,pread64,readv,preadv,preadv2,mmap"


def run(spec: dict, folder: Path) -> dict:
    """Run a task in a fresh process; return its result, or {"error": message}."""
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    process = FRESH.Process(target=run_task, args=(spec | {"result": str(result)},))
    process.start()
    process.join(TIMEOUT_S)
    process.kill()
    process.join()
    return json.loads(result.read_text()) if result.exists() else {"error": f"exit status {process.exitcode}"}


def write(names: list[str], folder: Path, common: dict) -> dict[str, dict]:
    """Write the originals in the format of each loader; return its folder, or the error, by name."""
    folder.mkdir()
    task = {"do": "write", "peers": names, "folder": str(folder), "cores": usable_cores()}
    return run(common | task, folder)


def compare_crops(names: list[str], folder: Path, batch_size: int) -> dict[str, dict]:
    """Return how far the crops of each loader are from torchvision's, or the error, by name."""
    originals = folder / "charts"
    originals.mkdir()
    for i, data in enumerate(charts()):
        (originals / f"img{i:08d}.JPEG").write_bytes(data)
    common = {"originals": str(originals), "batch_size": batch_size}
    written = write(names, folder / "chart_formats", common)
    task = common | {"do": "prove", "cores": usable_cores()}
    proving = tqdm(
        [name for name, made in written.items() if "folder" in made], "comparing crops", file=sys.stdout
    )
    return {name: run(task | {"peer": name} | written[name], folder) for name in proving}


def unpack(pack: Path, folder: Path, count: int | None) -> int:
    """Write the JPEG members of a pack as files in the order of their names; return their number."""
    folder.mkdir()
    with zipfile.ZipFile(pack) as zipped:
        names = sorted(name for name in zipped.namelist() if name != "dataset.json")
        for i, name in enumerate(names[:count]):
            (folder / f"img{i:08d}.JPEG").write_bytes(zipped.read(name))
    return len(names[:count])


def operations(spec: dict, folder: Path) -> dict[str, int] | None:
    """Count the system calls on the data's files in the cold epoch, or None without strace."""
    trace, result = folder / "trace.txt", str(folder / "traced.json")
    job = spec | {"do": "measure", "cores": usable_cores(), "epochs": 1, "verify": False, "result": result}
    strace = ["strace", "-f", "-y", "-e", f"trace={OPERATIONS}", "-o", str(trace)]
    try:
        command = [*strace, sys.executable, "-m", "tests.bench.loading.child", json.dumps(job)]
        subprocess.run(command, check=False, timeout=TIMEOUT_S)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    on_data = re.compile(rf"^\d+ +(\w+)\(.*{re.escape(spec['folder'])}/")
    with trace.open() as lines:
        calls = Counter(match[1] for line in lines if (match := on_data.match(line)))
    return {name: count // 2 for name, count in calls.items()}  # two epochs: a cold and a warm one


def measure(specs: dict[str, dict], rounds: int, cores: list[int], folder: Path) -> list[dict]:
    """Measure all loaders in interleaved rounds; verify the images in the first round."""
    runs = [(n, k, name) for n in range(rounds) for k in cores for name in specs]
    rows = []
    for number, k, name in tqdm(runs, desc="measuring", file=sys.stdout):
        task = {"do": "measure", "cores": k, "verify": (number, k) == runs[0][:2]}
        rows.append({"loader": name, "cores": k, "round": number} | run(specs[name] | task, folder))
    return rows


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crops", action="store_true", help="random crops of full-size photographs")
    parser.add_argument("--pack", type=Path, help="a zip of JPEG members in the course's format")
    parser.add_argument("--images", type=int, help="use only the first so many images")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3, help="warm epochs in each process")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, usable_cores()}))
    parser.add_argument(
        "--only", nargs="+", default=[""], help="measure only loaders with one of these words in the name"
    )
    parser.add_argument("--operations", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}, which lesson 04 shows")
    return parser.parse_args(arguments)


def default_pack(crops: bool) -> Path:
    """Return the pack of the default data, or of full-size photographs."""
    data = data_dir()
    if crops:
        data = data.with_name(f"{data.name}_full_size")
        if not data.exists():
            sys.exit(f"{data} is missing: make it with `python -m data_setup full_size`")
    return data / "zip_encoded" / "part0.zip"


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark."""
    args = parse(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    compileall.compile_dir(*course_utils.__path__, quiet=1)  # installed libraries are compiled too
    work = "crops" if args.crops else "images"
    known = {name: peer for name, peer in peers().items() if work in peer.work}
    chosen = {name: peer for name, peer in known.items() if any(word in name for word in args.only)}
    loaders = [name for name, peer in chosen.items() if not peer.limit]
    with tempfile.TemporaryDirectory(dir=args.out) as folder:
        here = Path(folder).resolve()
        images = unpack(args.pack or default_pack(args.crops), here / "originals", args.images)
        common = {"originals": str(here / "originals"), "batch_size": args.batch_size, "epochs": args.epochs}
        written = write(list(chosen), here / "formats", common)
        specs = {name: common | {"peer": name} | made for name, made in written.items() if "folder" in made}
        crops = compare_crops(loaders, here, args.batch_size) if args.crops else {}
        counted = [name for name in specs if args.operations and name in loaders]
        tracing = tqdm(counted, desc="counting system calls", file=sys.stdout)
        calls = {name: operations(specs[name], here) for name in tracing}
        rows = measure(specs, args.rounds, args.cores, here)
        uncached = page_cache.why_not_measurable(here)
    report = {"work": work, "images": images, "batch_size": args.batch_size, "rounds": args.rounds}
    report |= {"rows": rows, "operations": calls, "crops": crops, "uncached": uncached, **environment()}
    for key in ("decoder", "output"):
        report[key] = {name: getattr(peer, key) for name, peer in chosen.items()}
    failed = {row["loader"]: row["error"] for row in rows if "error" in row}
    report |= {"missing": failed | {name: made["error"] for name, made in written.items() if "error" in made}}
    name = "crops" if args.crops else "loader"
    (args.out / f"{name}.json").write_text(json.dumps(report, indent=1))
    print(table(report))
    plot(report, args.out / f"{name}.png")
    if args.record:
        RECORD.write_text(json.dumps(recorded(report), indent=1) + "\n")
        write_to_lesson(recorded(report))


if __name__ == "__main__":
    main()

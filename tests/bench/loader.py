"""The course's loader beside the libraries that people would otherwise choose.

The same JPEG images, the same output (each image is compared with that of another decoder), the same cores,
every measurement in a fresh process, all loaders in turn in each round. Prints a table; writes `loader.json`
and `loader.png`.

    python -m tests.bench.loader                      # everything: about 20 minutes
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
from course_utils.system import usable_cores
from tests.bench.loading.child import work
from tests.bench.loading.peer import peers
from tests.bench.loading.report import plot, table

TIMEOUT_S = 900
FRESH = multiprocessing.get_context("forkserver")
FRESH.set_forkserver_preload(["torchvision", "tests.bench.loading.child"])  # torch is imported once for all
OPERATIONS = "openat,open,stat,newfstatat,fstat,statx,lseek,read,pread64,readv,preadv,preadv2,mmap"


def run(spec: dict, folder: Path) -> dict:
    """Do the work in a fresh process; return what it saw, or {"error": why it failed}."""
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    process = FRESH.Process(target=work, args=(spec | {"result": str(result)},))
    process.start()
    process.join(TIMEOUT_S)
    process.kill()
    process.join()
    return json.loads(result.read_text()) if result.exists() else {"error": f"exit status {process.exitcode}"}


def unpack(pack: Path, folder: Path, count: int | None) -> int:
    """Write the JPEG members of a pack as files in the order of their names; return how many."""
    folder.mkdir()
    with zipfile.ZipFile(pack) as zipped:
        names = sorted(name for name in zipped.namelist() if name != "dataset.json")
        for i, name in enumerate(names[:count]):
            (folder / f"img{i:08d}.JPEG").write_bytes(zipped.read(name))
    return len(names[:count])


def operations(spec: dict, folder: Path) -> dict[str, int] | None:
    """Count the system calls on the data's files in the cold epoch, or None without strace."""
    trace, result = folder / "trace.txt", str(folder / "traced.json")
    job = spec | {"do": "measure", "cores": usable_cores(), "epochs": 1, "prove": False, "result": result}
    strace = ["strace", "-f", "-y", "-e", f"trace={OPERATIONS}", "-o", str(trace)]
    try:
        command = [*strace, sys.executable, "-m", "tests.bench.loading.child", json.dumps(job)]
        subprocess.run(command, check=False, timeout=TIMEOUT_S)
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return None
    inside = re.compile(rf"^\d+ +(\w+)\(.*{re.escape(spec['folder'])}/")
    with trace.open() as lines:
        calls = Counter(found[1] for line in lines if (found := inside.match(line)))
    return {name: count // 2 for name, count in calls.items()}  # a cold and a warm epoch


def measure(specs: dict[str, dict], rounds: int, cores: list[int], folder: Path) -> list[dict]:
    """Run all loaders in turn, over and over; compare the images the first time."""
    turns = [(n, k, name) for n in range(rounds) for k in cores for name in specs]
    rows = []
    for number, k, name in tqdm(turns, desc="measuring", file=sys.stdout):
        seen = run(specs[name] | {"do": "measure", "cores": k, "prove": (number, k) == turns[0][:2]}, folder)
        rows.append({"loader": name, "cores": k, "round": number} | seen)
    return rows


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pack", type=Path, help="a zip of JPEG members in the course's format")
    parser.add_argument("--images", type=int, help="use only the first so many")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3, help="warm epochs in each process")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, nargs="+", default=sorted({1, usable_cores()}))
    parser.add_argument("--only", nargs="+", default=[""], help="loaders with one of these words in the name")
    parser.add_argument("--operations", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    compileall.compile_dir(*course_utils.__path__, quiet=1)  # as the installed libraries are
    found = {name: peer for name, peer in peers().items() if any(word in name for word in args.only)}
    with tempfile.TemporaryDirectory(dir=args.out) as folder:
        here = Path(folder).resolve()
        images = unpack(
            args.pack or data_dir() / "zip_encoded" / "part0.zip", here / "originals", args.images
        )
        common = {"originals": str(here / "originals"), "batch_size": args.batch_size, "epochs": args.epochs}
        written = run(
            common | {"do": "write", "peers": list(found), "folder": str(here), "cores": usable_cores()}, here
        )
        able = {name: common | {"peer": name} | seen for name, seen in written.items() if "folder" in seen}
        counted = [name for name in able if args.operations and not found[name].limit]
        tracing = tqdm(counted, desc="counting system calls", file=sys.stdout)
        calls = {name: operations(able[name], here) for name in tracing}
        rows = measure(able, args.rounds, args.cores, here)
    report = {"images": images, "batch_size": args.batch_size, "rounds": args.rounds}
    report |= {
        "rows": rows,
        "operations": calls,
        "decoders": {name: peer.decoder for name, peer in found.items()},
    }
    failed = {row["loader"]: row["error"] for row in rows if "error" in row}
    report |= {"missing": failed | {name: seen["error"] for name, seen in written.items() if "error" in seen}}
    (args.out / "loader.json").write_text(json.dumps(report, indent=1))
    print(table(report))
    plot(report, args.out / "loader.png")


if __name__ == "__main__":
    main()

"""Time and memory that each worker needs to open a zip of very many members: `zipfile` and the offset index.

Two fresh processes open the zip at once, as two DataLoader workers would. Private memory belongs to a single
worker; shared memory is counted once for all of them.

    python -m tests.bench.zip_index --members 300000 1280000
"""

import argparse
import json
import multiprocessing as mp
import pickle
import re
import statistics
import tempfile
import time
import zipfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

from course_utils.data import ZipIndex

WORKERS = 2
ROLLUP = Path("/proc/self/smaps_rollup")


def make_zip(path: Path, members: int) -> None:
    """Write a stored zip of tiny members (about 90 bytes each, of which 8 are data)."""
    with zipfile.ZipFile(path, "w") as zipped:
        for i in range(members):
            zipped.writestr(zipfile.ZipInfo(f"img{i:08d}.JPEG"), b"%08d" % i)


def memory() -> dict[str, float]:
    """Return this process's private and shared resident memory in MiB, or nothing without /proc."""
    if not ROLLUP.exists():
        return {}
    kib = {key: int(value) for key, value in re.findall(r"(\w+): +(\d+) kB", ROLLUP.read_text())}
    private = kib["Private_Clean"] + kib["Private_Dirty"]
    return {"private_mib": private / 1024, "shared_mib": (kib["Rss"] - private) / 1024}


def with_zipfile(path: Path, saved: Path) -> Callable[[int], bytes]:
    """Open with `zipfile`, which reads the whole central directory."""
    opened = zipfile.ZipFile(path)
    return lambda i: opened.read(f"img{i:08d}.JPEG")


def with_index(path: Path, saved: Path) -> Callable[[int], bytes]:
    """Open with an index that each worker builds."""
    return ZipIndex(path).read


def with_saved_index(path: Path, saved: Path) -> Callable[[int], bytes]:
    """Open with the saved index."""
    return ZipIndex(path, saved).read


METHODS = {"zipfile": with_zipfile, "index, scanned": with_index, "index, saved": with_saved_index}


def worker(pipe: Connection, barrier: Barrier, method: str, path: Path, saved: Path, members: int) -> None:
    """Open the zip, read 10,000 members spread over it, and report; exit only after all have measured."""
    before = memory()
    barrier.wait()
    start = time.perf_counter()
    read = METHODS[method](path, saved)
    seconds = time.perf_counter() - start
    for i in range(0, members, max(1, members // 10_000)):
        assert bytes(read(i)) == b"%08d" % i
    barrier.wait()
    pipe.send({"open_s": seconds} | {key: value - before[key] for key, value in memory().items()})
    barrier.wait()


def measure(method: str, path: Path, saved: Path, members: int) -> list[dict[str, float]]:
    """Return the measurement of each worker."""
    context = mp.get_context("spawn")
    barrier, (receiver, sender) = context.Barrier(WORKERS), context.Pipe(duplex=False)
    jobs = [
        context.Process(target=worker, args=(sender, barrier, method, path, saved, members))
        for _ in range(WORKERS)
    ]
    for job in jobs:
        job.start()
    reports = [receiver.recv() for _ in jobs]
    for job in jobs:
        job.join()
    return reports


def report(members: int, rounds: int, folder: Path) -> list[dict]:
    """Measure all methods on a zip of this many members, in interleaved rounds; print and return the rows."""
    path, saved = folder / f"{members}.zip", folder / f"{members}.npy"
    make_zip(path, members)
    index = ZipIndex(path)
    index.save(saved)
    rows = [
        {"members": members, "method": method} | measured
        for _ in range(rounds)
        for method in METHODS
        for measured in measure(method, path, saved, members)
    ]
    print(f"\n{members:,} members; pickled index: {len(pickle.dumps(index))} bytes")
    print(f"{'per worker':16}{'opening, s':>12}{'private, MiB':>14}{'shared, MiB':>14}")
    for method in METHODS:
        mine = [row for row in rows if row["method"] == method]
        medians = [statistics.median(row.get(key, float("nan")) for row in mine) for key in list(mine[0])[2:]]
        print(f"{method:16}{medians[0]:12.4f}" + "".join(f"{value:14.1f}" for value in medians[1:]))
    return rows


def main() -> None:
    """Print the tables and write `build/bench/zip_index.json`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--members", type=int, nargs="+", default=[300_000, 1_280_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for members in args.members for row in report(members, args.rounds, Path(folder))]
    (args.out / "zip_index.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()

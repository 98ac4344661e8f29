"""What the benchmark of loaders does in fresh processes: write formats, compare crops, measure."""

import json
import multiprocessing
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from course_utils.system import usable_cores
from tests.bench.loading.child import run_task
from tests.bench.loading.crop_parameters import charts

TIMEOUT_S = 300
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


def measure_round(specs: dict[str, dict], number: int, cores: list[int], folder: Path) -> list[dict]:
    """Measure each loader once per number of cores; verify the images in the first round."""
    rows = []
    runs = [(k, name) for k in cores for name in specs]
    for k, name in tqdm(runs, desc=f"round {number + 1}", file=sys.stdout):
        task = {"do": "measure", "cores": k, "verify": (number, k) == (0, cores[0])}
        rows.append({"loader": name, "cores": k, "round": number} | run(specs[name] | task, folder))
    return rows

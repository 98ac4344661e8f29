"""Record what packed formats cost that the course does not contain, on the same photographs.

Each library gets an environment of its own, with the version in `other_formats.txt` and all that it needs
except torch. A library that cannot be installed, imported or measured here is listed with the reason:

    python -m tests.bench.other_formats --record    # needs uv, strace, 3 GB and 10 minutes
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np

from course_utils.formats import Sample
from course_utils.paths import data_dir
from course_utils.storage import page_cache, sample_costs
from tests.bench.packing.peer_formats import PEERS
from tests.bench.recording.environment import environment, where_and_when

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "other_formats.txt"
RECORD = HERE / "other_formats.json"
TABLE = HERE / "other_formats.md"
ENVIRONMENTS = Path(sys.prefix) / "other_formats"
IMAGES, READS = 2000, 100
TITLES = {name: kind.title for name, kind in PEERS.items()} | {"ffcv": "FFCV", "petastorm": "Petastorm"}
IMPORTED_AS = {"mosaicml-streaming": "streaming", "pylance": "lance"}
WITHOUT_TORCH = "torch ; sys_platform == 'never'\ntorchvision ; sys_platform == 'never'\n"


def requirements() -> dict[str, str]:
    """The pinned requirement of each library, by name."""
    lines = REQUIREMENTS.read_text().splitlines()
    return {line.partition("==")[0]: line for line in lines if line and not line.startswith("#")}


def install(name: str) -> Path:
    """Install a library below this environment, without torch, unless that is done; return its folder."""
    folder = ENVIRONMENTS / requirements()[name]
    if not folder.exists():
        partial_folder = folder.with_name(f"{folder.name}.partial")
        shutil.rmtree(partial_folder, ignore_errors=True)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as overrides:
            overrides.write(WITHOUT_TORCH)
            overrides.flush()
            options = ["--python", sys.executable, "--target", partial_folder, "--override", overrides.name]
            run(["uv", "pip", "install", "--quiet", *options, requirements()[name]])
        partial_folder.rename(folder)
    return folder


def run(command: Sequence[str | Path], **variables: str) -> str:
    """Run a command and return what it printed; RuntimeError with the end of its error messages."""
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables, check=False)
    if done.returncode:
        raise RuntimeError(reason(done.stderr))
    return done.stdout


def reason(stderr: str) -> str:
    """Return the line of an error message that tells most."""
    lines = [line.strip(" │╰─▶×") for line in stderr.splitlines() if line.strip()]
    telling = [line for line in lines if "Error" in line or "error" in line]
    return (telling or lines or ["no message"])[-1]


def record_of(name: str) -> dict[str, Any]:
    """Install and measure one library; what fails is named in `failed`."""
    found: dict[str, Any] = {"title": TITLES[name], "requirement": requirements()[name]}
    try:
        folder = install(name)
        found["megabytes"] = round(sum(size(path) for path in folder.rglob("*")) / 1e6)
        versions = {one.metadata["Name"].lower(): one.version for one in distributions(path=[str(folder)])}
        found["numpy"] = versions.get("numpy", "")
        paths = os.pathsep.join((str(folder), str(HERE.parent.parent)))
        told = run([sys.executable, "-m", "tests.bench.other_formats", "--measure", name], PYTHONPATH=paths)
        return found | json.loads(told.splitlines()[-1])
    except RuntimeError as error:
        return found | {"failed": str(error)}


def size(path: Path) -> int:
    return 0 if path.is_dir() or path.is_symlink() else path.stat().st_size


def photographs() -> list[Sample]:
    paths = sorted((data_dir() / "disk_transformed").glob("*.JPEG"))[:IMAGES]
    return [Sample(path.name, path.read_bytes(), number) for number, path in enumerate(paths)]


def measure(name: str) -> dict[str, float | int]:
    """Write the photographs, read some of them back, and count what opening and reading cost."""
    __import__(IMPORTED_AS.get(name, name))
    if name not in PEERS:
        raise NotImplementedError(f"{name} is installed, but peer_formats.py has no class that measures it")
    samples, indices = photographs(), np.random.default_rng(0).integers(0, IMAGES, READS).tolist()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "packed.bagz"  # Bagz derives the options from the suffix
        kind = PEERS[name]
        kind.write(path, samples)
        check_equal(name, path, samples, indices)
        traced = sample_costs(partial(kind, path), indices, path, traced=True)
        cold = sample_costs(partial(kind, path), indices, path, cold=True)
        files = [one for one in path.rglob("*") if one.is_file()] if path.is_dir() else [path]
        return {
            "files": len(files),
            "opening_calls": sum((traced.opening.calls or {}).values()),
            "calls_per_sample": sum((traced.reading.calls or {}).values()) / READS,
            "disk_bytes_per_useful_byte": (cold.reading.disk_bytes or 0) / cold.useful_bytes,
            "opening_megabytes": (cold.opening.memory_bytes or 0) / 1e6,
            "is_cold": not page_cache.why_not_measurable(path),
        }


def check_equal(name: str, path: Path, samples: Sequence[Sample], indices: Sequence[int]) -> None:
    reader = PEERS[name](path)
    assert len(reader) == len(samples)
    wrong = [index for index in indices if reader.read(index) != samples[index]]
    if wrong:
        raise ValueError(f"{len(wrong)} of {len(indices)} samples differ from what was written")


def table(record: dict[str, Any]) -> str:
    """Return the record as Markdown."""
    lines = [
        "# Packed formats that the course does not contain",
        "",
        f"{record['images']:,} photographs were written, and {record['reads']} random ones read back equal "
        f"({where_and_when(record)}, read-ahead {record['read_ahead_kb']} KiB).",
        "",
        "| format | version | MB installed | NumPy | files | calls to open | calls a sample "
        "| disk bytes per useful byte, cold | MB to open |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(row(one))} |" for one in record["formats"] if "failed" not in one]
    lines += [""]
    lines += [
        f"- Not measured: {one['title']} ({one['requirement']}), {one['failed'].rstrip('.')}."
        for one in record["formats"]
        if "failed" in one
    ]
    lines += [
        "",
        "FFCV is measured as [a loader that crops](crops.md).",
        "",
        "*MB installed*: the library and all that it needs except torch. *Calls*: system calls on the files",
        "of the data set. *MB to open*: growth of the process's memory until the reader exists, libraries",
        "included (torch for LitData and MDS).",
        "",
        "Made by `python -m tests.bench.other_formats --record`.",
    ]
    return "\n".join(lines) + "\n"


def row(one: dict[str, Any]) -> list[str]:
    """Return the cells of a format that was measured."""
    cells = [one["title"], one["requirement"], str(one.get("megabytes", "")), one.get("numpy", "")]
    return [
        *cells,
        str(one["files"]),
        str(one["opening_calls"]),
        f"{one['calls_per_sample']:.1f}",
        f"{one['disk_bytes_per_useful_byte']:.1f}" if one["is_cold"] else "",
        f"{one['opening_megabytes']:.0f}",
    ]


def read_ahead_kb() -> int | None:
    """Read-ahead of the disk with the temporary files; None where the kernel does not tell."""
    device = Path(tempfile.gettempdir()).stat().st_dev
    for folder in ("queue", "../queue"):
        path = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}", folder, "read_ahead_kb")
        if path.exists():
            return int(path.read_text())
    return None


def main() -> None:
    """Print the table and, on request, write it and the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name} and {TABLE.name}")
    parser.add_argument("--measure", choices=TITLES, help="measure one library in this environment")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    record = {
        **environment(),
        "images": IMAGES,
        "reads": READS,
        "read_ahead_kb": read_ahead_kb(),
        "formats": [record_of(name) for name in sorted(requirements())],
    }
    print(table(record))
    if options.record:
        RECORD.write_text(json.dumps(record, indent=1) + "\n")
        TABLE.write_text(table(record))


if __name__ == "__main__":
    main()

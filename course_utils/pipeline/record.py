"""Record every step of lesson 03 on the machine at hand: `python -m course_utils.pipeline.record --help`.

Writes one small JSON file: device, versions, date, stage times, the spans of each step and the spread of its
repeats. The lesson draws every such file that lies in its folder.
"""

import argparse
import json
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
import torchvision
from torch.utils.data import Dataset

from course_utils.data import JpegDataset, SyntheticImageDataset, transform
from course_utils.paths import DataNotFoundError, data_dir
from course_utils.pipeline.pipeline_steps import Prefetcher, ideal_seconds, record_step, spread, steps
from course_utils.pipeline.recorder import device_name
from course_utils.pipeline.trace import Run
from course_utils.system import usable_cores
from course_utils.training import SimpleCNN, training_step

PATTERN = "recorded_*.json"
WRAPPER_CELL = "prefetcher_answer"


@dataclass(frozen=True)
class Recorded:
    """One step as recorded: a run, and the lowest, middle and highest step time of all repeats (seconds)."""

    run: Run
    step_seconds: tuple[float, float, float]


@dataclass(frozen=True)
class Record:
    """All steps of one machine, with what one has to know about it."""

    facts: dict[str, Any]
    ideal_seconds: float
    steps: tuple[Recorded, ...]

    def to_json(self) -> dict[str, Any]:
        """The record as plain data."""
        rows = [{"step_seconds": list(r.step_seconds), "run": r.run.to_json()} for r in self.steps]
        return {"facts": self.facts, "ideal_seconds": self.ideal_seconds, "steps": rows}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Record":
        """The record that `to_json` wrote down."""
        rows = [Recorded(Run.from_json(row["run"]), tuple(row["step_seconds"])) for row in plain["steps"]]
        return cls(plain["facts"], plain["ideal_seconds"], tuple(rows))

    def table(self) -> str:
        """One line per step, in milliseconds, with the ratio to the ideal."""
        facts = self.facts
        title = f"{facts['device']}, {facts['dtype']}, batches of {facts['batch_size']}, {facts['date'][:10]}"
        lines = [f"{title}; ideal {1e3 * self.ideal_seconds:.2f} ms"]
        for step in self.steps:
            low, middle, high = (1e3 * t for t in step.step_seconds)
            ratio = step.step_seconds[1] / self.ideal_seconds
            lines.append(
                f"{step.run.name:22} {middle:8.2f} ms ({low:.2f} to {high:.2f})  {ratio:5.2f} x ideal"
            )
        return "\n".join(lines)


def read_records(folder: str | Path) -> list[Record]:
    """All records in a folder, sorted by file name."""
    return [Record.from_json(json.loads(path.read_text())) for path in sorted(Path(folder).glob(PATTERN))]


def read_prefetcher(path: str | Path) -> Prefetcher:
    """The `prefetch` function or class of a Python file, or of the exercise's cell in a notebook."""
    path = Path(path)
    source = path.read_text()
    if path.suffix == ".ipynb":
        cells = json.loads(source)["cells"]
        own = [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == WRAPPER_CELL]
        source = "".join(own[0]["source"])
    names: dict[str, Any] = {"__name__": "prefetcher"}
    exec(compile(source, path, "exec"), names)
    return names["prefetch"]


def record(
    dataset: Dataset,
    device: torch.device | str,
    *,
    batch_size: int,
    workers: int,
    num_batches: int,
    repeats: int,
    width: int = 16,
    dtype: torch.dtype | None = None,
    prefetcher: Prefetcher | None = None,
    progress: Callable[[str], object] = lambda line: None,
) -> Record:
    """Run every step that the machine can do, several times in turn.

    Args:
        dataset: Gives (image, label), images as uint8 of one size.
        device: Where to compute.
        batch_size: Samples per batch.
        workers: Worker processes, in the steps that have any.
        num_batches: Batches of each run.
        repeats: Runs of each step; the one with the middle step time is kept.
        width: Of the network.
        dtype: Compute in this type; None for float32.
        prefetcher: Without one, the step that prefetches on the GPU is left out.
        progress: Called with a line before each run.
    """
    device = torch.device(device)
    train = training_step(SimpleCNN(1000, width).to(device), dtype=dtype)
    todo = [s for s in steps(workers, device.type == "cuda") if prefetcher or not s.pipeline.device_prefetch]
    runs: dict[str, list[Run]] = {step.name: [] for step in todo}
    for repeat in range(repeats):
        for step in todo:
            progress(f"repeat {repeat + 1} of {repeats}: {step.name}")
            runs[step.name].append(
                record_step(step, dataset, train, device, batch_size, num_batches, prefetcher)
            )
    skip = skipped(workers, num_batches)
    recorded = tuple(_middle(of_step, skip) for of_step in runs.values())
    facts = {
        "device": device_name(device),
        "dtype": str(dtype or torch.float32).removeprefix("torch."),
        "batch_size": batch_size,
        "workers": workers,
        "repeats": repeats,
        "skipped_steps": skip,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "torchvision": torchvision.__version__,
    }
    return Record(facts, ideal_seconds(recorded[0].run, workers), recorded)


def skipped(workers: int, num_batches: int) -> int:
    """Steps at the start that do not count: what was loaded before the first one, and the warm-up."""
    return min(4 * max(workers, 1) + 2, num_batches // 2)


def _middle(runs: Sequence[Run], skip: int) -> Recorded:
    ordered = sorted(runs, key=lambda run: run.step_seconds(skip))
    return Recorded(ordered[len(ordered) // 2], spread(runs, skip))


def _dataset(size: int) -> Dataset:
    try:
        return JpegDataset(data_dir() / "disk_transformed", transform(size))
    except DataNotFoundError:
        return SyntheticImageDataset(10_000, size)


def main(arguments: Sequence[str] | None = None) -> Path:
    """Record on the command line.

    Returns:
        Where the record was written.
    """
    parser = argparse.ArgumentParser(prog="python -m course_utils.pipeline.record", description=__doc__)
    parser.add_argument("--out", type=Path, help="file to write; recorded_<device>_<dtype>_<batch size>.json")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--size", type=int, default=128, help="height and width of the images, in pixels")
    parser.add_argument("--width", type=int, default=16, help="width of the network: more computes longer")
    parser.add_argument("--workers", type=int, default=max(usable_cores() - 1, 1))
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument(
        "--prefetcher", type=Path, help="a file, or your notebook, with the exercise's answer"
    )
    chosen = parser.parse_args(arguments)
    made = record(
        _dataset(chosen.size),
        chosen.device,
        batch_size=chosen.batch_size,
        workers=chosen.workers,
        num_batches=chosen.batches,
        repeats=chosen.repeats,
        width=chosen.width,
        dtype=None if chosen.dtype == "float32" else getattr(torch, chosen.dtype),
        prefetcher=read_prefetcher(chosen.prefetcher) if chosen.prefetcher else None,
        progress=lambda line: sys.stdout.write(line + "\n"),
    )
    name = f"{made.facts['device']}_{chosen.dtype}_{chosen.batch_size}".replace(" ", "-").lower()
    out = chosen.out or Path(f"recorded_{name}.json")
    out.write_text(json.dumps(made.to_json()))
    sys.stdout.write(f"{made.table()}\nwritten to {out}\n")
    return out


if __name__ == "__main__":
    main()

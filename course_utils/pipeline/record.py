"""Record every tuning step of lesson 03 on this machine: `python -m course_utils.pipeline.record --help`.

The command writes one small JSON file: device, versions, date, stage times, the spans of each step and the
range of its step times. The lesson draws every such file in its folder.
"""

import argparse
import json
import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, cast

import torch
import torchvision
from torch.utils.data import Dataset

from course_utils.data import JpegDataset, SyntheticImageDataset, transform
from course_utils.paths import DataNotFoundError, data_dir
from course_utils.pipeline.recorder import device_name
from course_utils.pipeline.trace import Run
from course_utils.pipeline.tuning import (
    Prefetcher,
    ideal_seconds,
    record_step,
    step_time_range,
    tuning_steps,
)
from course_utils.system import usable_cores
from course_utils.training import SimpleCNN, training_step

PATTERN = "recorded_*.json"
PREFETCHER_CELL = "prefetcher_answer"


class RecordFacts(TypedDict):
    """Machine, versions and settings of a record; `skipped_steps` is the warm-up that does not count."""

    device: str
    dtype: str
    batch_size: int
    workers: int
    repeats: int
    skipped_steps: int
    date: str
    python: str
    torch: str
    torchvision: str


@dataclass(frozen=True)
class RecordedStep:
    """A recorded tuning step.

    Args:
        run: The repeat with the median step time.
        step_seconds: Lowest, median and highest step time of all repeats, in seconds.
    """

    run: Run
    step_seconds: tuple[float, float, float]


@dataclass(frozen=True)
class Record:
    """All tuning steps as recorded on one machine.

    Args:
        facts: Machine, versions and settings.
        ideal_seconds: Step time of perfect overlap, in seconds.
        steps: The steps in order.
    """

    facts: RecordFacts
    ideal_seconds: float
    steps: tuple[RecordedStep, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON data."""
        rows = [{"step_seconds": list(r.step_seconds), "run": r.run.to_json()} for r in self.steps]
        return {"facts": self.facts, "ideal_seconds": self.ideal_seconds, "steps": rows}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Record":
        """Decode what `to_json` returned."""
        rows = [RecordedStep(Run.from_json(row["run"]), tuple(row["step_seconds"])) for row in plain["steps"]]
        return cls(plain["facts"], plain["ideal_seconds"], tuple(rows))

    def table(self) -> str:
        """Return a text table of the steps, in milliseconds, with their ratio to the ideal."""
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
    """Read all records in a folder, sorted by file name."""
    return [Record.from_json(json.loads(path.read_text())) for path in sorted(Path(folder).glob(PATTERN))]


def load_prefetcher(path: str | Path) -> Prefetcher:
    """Execute a Python file, or the exercise's cell of a notebook, and return its `prefetch`."""
    path = Path(path)
    source = path.read_text()
    if path.suffix == ".ipynb":
        cells = json.loads(source)["cells"]
        answers = [c for c in cells if c["metadata"].get("nbgrader", {}).get("grade_id") == PREFETCHER_CELL]
        source = "".join(answers[0]["source"])
    names: dict[str, Any] = {"__name__": "prefetcher"}
    exec(compile(source, path, "exec"), names)
    return cast(Prefetcher, names["prefetch"])  # code of the user: it cannot be checked before it runs


def record(
    dataset: Dataset[Any],
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
    """Record every tuning step that the machine supports, several times in interleaved rounds.

    Args:
        dataset: A dataset of (image, label), with uint8 images of one size.
        device: The device that computes.
        batch_size: Samples per batch.
        workers: Worker processes, in the steps that have any.
        num_batches: Batches of each run.
        repeats: Runs of each step; the one with the median step time is kept.
        width: Width of the network.
        dtype: Compute in this type; None for float32.
        prefetcher: Without one, the step that prefetches on the GPU is left out.
        progress: Called with a line of text before each run.
    """
    device = torch.device(device)
    train = training_step(SimpleCNN(1000, width).to(device), dtype=dtype)
    steps = tuning_steps(workers, accelerator=device.type == "cuda")
    steps = tuple(step for step in steps if prefetcher or not step.pipeline.device_prefetch)
    runs: dict[str, list[Run]] = {step.name: [] for step in steps}
    for repeat in range(repeats):
        for step in steps:
            progress(f"repeat {repeat + 1} of {repeats}: {step.name}")
            runs[step.name].append(
                record_step(step, dataset, train, device, batch_size, num_batches, prefetcher)
            )
    skip = warm_up_steps(workers, num_batches)
    recorded = tuple(_median(repeats_of_step, skip) for repeats_of_step in runs.values())
    facts: RecordFacts = {
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


def warm_up_steps(workers: int, num_batches: int) -> int:
    """Return the number of steps to leave out at the start: the prefetched batches and the warm-up."""
    return min(4 * max(workers, 1) + 2, num_batches // 2)


def _median(runs: Sequence[Run], skip: int) -> RecordedStep:
    ordered = sorted(runs, key=lambda run: run.step_seconds(skip))
    return RecordedStep(ordered[len(ordered) // 2], step_time_range(runs, skip))


def _dataset(size: int) -> Dataset[Any]:
    try:
        return JpegDataset(data_dir() / "disk_transformed", transform(size))
    except DataNotFoundError:
        return SyntheticImageDataset(10_000, size)


def main(arguments: Sequence[str] | None = None) -> Path:
    """Run the command; return the path of the file that it wrote."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.pipeline.record", description=__doc__)
    parser.add_argument(
        "--out", type=Path, help="file to write (default: recorded_<device>_<dtype>_<batch size>.json)"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--size", type=int, default=128, help="height and width of the images, in pixels")
    parser.add_argument(
        "--width", type=int, default=16, help="width of the network: the wider, the more compute"
    )
    parser.add_argument("--workers", type=int, default=max(usable_cores() - 1, 1))
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument(
        "--prefetcher", type=Path, help="a Python file or your notebook with the answer to the exercise"
    )
    options = parser.parse_args(arguments)
    result = record(
        _dataset(options.size),
        options.device,
        batch_size=options.batch_size,
        workers=options.workers,
        num_batches=options.batches,
        repeats=options.repeats,
        width=options.width,
        dtype=None if options.dtype == "float32" else getattr(torch, options.dtype),
        prefetcher=load_prefetcher(options.prefetcher) if options.prefetcher else None,
        progress=lambda line: sys.stdout.write(line + "\n"),
    )
    name = f"{result.facts['device']}_{options.dtype}_{options.batch_size}".replace(" ", "-").lower()
    out = options.out or Path(f"recorded_{name}.json")
    out.write_text(json.dumps(result.to_json()))
    sys.stdout.write(f"{result.table()}\nwritten to {out}\n")
    return out


if __name__ == "__main__":
    main()

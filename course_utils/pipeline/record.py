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
from torch import nn
from torch.utils.data import Dataset, Subset

from course_utils.data import JpegDataset, SyntheticImageDataset, transform
from course_utils.paths import DataNotFoundError, data_dir
from course_utils.pipeline.recorder import device_name
from course_utils.pipeline.trace import Run
from course_utils.pipeline.tuning import (
    Prefetcher,
    ideal_seconds,
    measured_steps,
    record_step,
    step_time_range,
    tuning_steps,
    warm_up_steps,
)
from course_utils.system import usable_cores
from course_utils.training import SimpleCNN, UInt8ResNet50, training_step

PATTERN = "recorded_*.json"
PREFETCHER_CELL = "prefetcher_answer"
NETWORKS: dict[str, Callable[[int], nn.Module]] = {"simple_cnn": SimpleCNN, "resnet50": UInt8ResNet50}
CPU_DEFAULTS = {"batch_size": 32, "size": 128, "network": "simple_cnn", "dtype": "float32"}
GPU_DEFAULTS = {"batch_size": 256, "size": 224, "network": "resnet50", "dtype": "bfloat16"}


class RecordFacts(TypedDict):
    """Machine, versions and settings of a record; `skipped_steps` is the warm-up that does not count."""

    device: str
    dtype: str
    network: str
    image_size: int
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
        size = f"{facts['batch_size']} images of {facts['image_size']} x {facts['image_size']}"
        title = f"{facts['device']}, {facts['network']}, {facts['dtype']}, batches of {size}"
        lines = [f"{title}, {facts['date'][:10]}; ideal {1e3 * self.ideal_seconds:.2f} ms"]
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
    """Execute a Python file, or a notebook's setup cells and its answer, and return its `prefetch`.

    Raises:
        ValueError: The file does not define `prefetch`.
    """
    path = Path(path)
    names: dict[str, Any] = {"__name__": "prefetcher"}
    source = _answer_source(path) if path.suffix == ".ipynb" else path.read_text()
    exec(compile(source, path, "exec"), names)
    if "prefetch" not in names:
        raise ValueError(f"{path} does not define `prefetch`")
    return cast(Prefetcher, names["prefetch"])  # code of the user: it cannot be checked before it runs


def _answer_source(notebook: Path) -> str:
    """Return the code of the cells tagged `setup`, which hold the imports, and of the exercise's answer."""

    def is_needed(cell: dict[str, Any]) -> bool:
        metadata = cell["metadata"]
        answer = metadata.get("nbgrader", {}).get("grade_id") == PREFETCHER_CELL
        return cell["cell_type"] == "code" and (answer or "setup" in metadata.get("tags", []))

    cells = json.loads(notebook.read_text())["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if is_needed(cell))


def record(
    dataset: Dataset[Any],
    device: torch.device | str,
    *,
    network: nn.Module,
    batch_size: int,
    workers: int,
    repeats: int,
    num_batches: int | None = None,
    dtype: torch.dtype | None = None,
    prefetcher: Prefetcher | None = None,
    progress: Callable[[str], object] = lambda line: None,
) -> Record:
    """Record every tuning step that the machine supports, several times in interleaved rounds.

    Args:
        dataset: A dataset of (image, label), with uint8 images of one size.
        device: The device that computes.
        network: The network to train, for uint8 images.
        batch_size: Samples per batch.
        workers: Worker processes, in the steps that have any.
        repeats: Runs of each step; the one with the median step time is kept.
        num_batches: Batches of each run; None for as many as fill the pipeline and keep all workers busy for
            several rounds.
        dtype: Compute in this type; None for float32.
        prefetcher: Without one, the step that prefetches on the GPU is left out.
        progress: Called with a line of text before each run.

    Raises:
        ValueError: `num_batches` is too small to measure anything after the pipeline has been filled.
    """
    device = torch.device(device)
    skip = warm_up_steps(workers)
    num_batches = skip + measured_steps(workers) if num_batches is None else num_batches
    if num_batches <= skip:
        raise ValueError(
            f"{num_batches} batches are too few: the first {skip} fill the pipeline of {workers} workers"
        )
    dataset = repeated(dataset, num_batches * batch_size)
    train = training_step(network.to(device), dtype=dtype)
    steps = tuning_steps(workers, accelerator=device.type == "cuda")
    steps = tuple(step for step in steps if prefetcher or not step.pipeline.device_prefetch)
    runs: dict[str, list[Run]] = {step.name: [] for step in steps}
    for repeat in range(repeats):
        for step in steps:
            progress(f"repeat {repeat + 1} of {repeats}: {step.name}")
            runs[step.name].append(
                record_step(step, dataset, train, device, batch_size, num_batches, prefetcher)
            )
    recorded = tuple(_median(repeats_of_step, skip) for repeats_of_step in runs.values())
    facts: RecordFacts = {
        "device": device_name(device),
        "dtype": str(dtype or torch.float32).removeprefix("torch."),
        "network": type(network).__name__.removeprefix("UInt8"),
        "image_size": int(dataset[0][0].shape[-1]),
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


def repeated(dataset: Dataset[Any], samples: int) -> Subset[Any]:
    """Return `samples` samples of a dataset, which starts again from the first as often as necessary."""
    length = len(dataset)  # type: ignore[arg-type]  # a map-style dataset has a length, its base class not
    return Subset(dataset, [number % length for number in range(samples)])


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
    parser.add_argument("--batch-size", type=int, help="samples per batch (default: 256 on a GPU, else 32)")
    parser.add_argument("--size", type=int, help="image height and width (default: 224 on a GPU, else 128)")
    parser.add_argument(
        "--network", choices=list(NETWORKS), help="(default: resnet50 on a GPU, else simple_cnn)"
    )
    parser.add_argument("--workers", type=int, default=max(usable_cores() - 1, 1))
    parser.add_argument(
        "--batches", type=int, help="batches of each run (default: the prefetched ones and several rounds)"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--dtype", choices=["float32", "bfloat16"], help="(default: bfloat16 on a GPU, else float32)"
    )
    parser.add_argument(
        "--prefetcher", type=Path, help="a Python file or your notebook with the answer to the exercise"
    )
    options = parser.parse_args(arguments)
    for name, value in (GPU_DEFAULTS if options.device.startswith("cuda") else CPU_DEFAULTS).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    # the answer's file is read first: an error in it must not wait for the end of the recording
    prefetcher = load_prefetcher(options.prefetcher) if options.prefetcher else None
    result = record(
        _dataset(options.size),
        options.device,
        network=NETWORKS[options.network](1000),
        batch_size=options.batch_size,
        workers=options.workers,
        num_batches=options.batches,
        repeats=options.repeats,
        dtype=None if options.dtype == "float32" else getattr(torch, options.dtype),
        prefetcher=prefetcher,
        progress=lambda line: sys.stdout.write(line + "\n"),
    )
    name = f"{result.facts['device']}_{options.dtype}_{options.batch_size}".replace(" ", "-").lower()
    out = options.out or Path(f"recorded_{name}.json")
    out.write_text(json.dumps(result.to_json()))
    sys.stdout.write(f"{result.table()}\nwritten to {out}\n")
    return out


if __name__ == "__main__":
    main()

"""Measure this machine's file system and GPU, and write one file that lessons draw beside their models."""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import torch
from tqdm import tqdm

from course_utils.paths import data_dir
from course_utils.record import device as gpu
from course_utils.record.file_system import FILES, FileSystem, cache_state, images_of_a_slice
from course_utils.record.machine import this_machine, versions
from course_utils.record.schema import (
    FORMAT,
    PARTS,
    ROUNDS,
    VERSION,
    Part,
    Record,
    Round,
    Settings,
    faults,
)
from course_utils.record.store import RecordError, begun, place_of, save

Measure = Callable[[int], dict[str, float]]
HOURS = 0.4  # with the last round, all ends within 30 minutes
EXAMPLES = "`make record` is the same; with options: make record RECORD_OPTIONS='--quick'"


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        0 on success, 1 after an error or a fault that was reported, 130 if it was interrupted.
    """
    options = _parser().parse_args(arguments)
    try:
        return check(options.check) if options.check else make(options)
    except (RecordError, OSError, ValueError) as error:
        sys.stderr.write(f"record: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("record: interrupted; the same command continues\n")
        return 130


def check(path: Path) -> int:
    """Say what is wrong with a record; return 0 if it can be used, else 1."""
    found = faults(path.read_bytes())
    sys.stdout.write("".join(f"{path}: {fault}\n" for fault in found or ["a complete record"]))
    return 1 if found else 0


def make(options: argparse.Namespace) -> int:
    """Measure what is missing in the record; return 0."""
    data = data_dir()
    on_gpu = torch.cuda.is_available()
    cache = cache_state(data)
    settings = _settings(len(list((data / FILES).glob("*.JPEG"))), options.quick)
    name = torch.cuda.get_device_name() if on_gpu else ""
    fresh = Record(
        FORMAT,
        VERSION,
        _now(),
        f"python -m course_utils.record {'--quick' if options.quick else f'--hours {options.hours:g}'}",
        this_machine(data, name, cache),
        versions(),
        settings,
        {part: Part(kind.unit) for part, kind in PARTS.items()},
    )
    path = options.out or place_of(data, fresh, options.quick)
    record = begun(path, fresh)
    save(path, record)  # before minutes are spent
    measures = _measures(FileSystem(data, settings), data, on_gpu, record)
    run(path, record, measures, 0 if options.quick else 3600 * options.hours / max(settings.rounds - 1, 1))
    sys.stdout.write(f"written to {path}\n")
    return 0


def run(
    path: Path,
    record: Record,
    measures: Mapping[str, Measure],
    interval: float,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Measure every part in every round, and write the record after each.

    Args:
        path: The record's file.
        record: What is known already; the rest is measured.
        measures: By the name of a part, a function of the number of a round.
        interval: Seconds from the start of a round to that of the next.
        sleep: Waits some seconds.
        clock: Returns seconds.
    """
    rounds = record.settings.rounds
    done = sum(len(record.parts[name].rounds) for name in measures)
    with tqdm(total=rounds * len(measures), initial=done, unit="part", file=sys.stdout) as bar:
        for number in range(rounds):
            start = clock()
            todo = [name for name in measures if len(record.parts[name].rounds) <= number]
            for name in todo:
                bar.set_description(f"round {number + 1} of {rounds}, {name}")
                values = measures[name](number)
                record.parts[name].rounds.append(Round(_now(), values))
                save(path, record)
                bar.update()
            if todo and number < rounds - 1 and (left := start + interval - clock()) > 0:
                bar.set_description(f"next round in {left / 60:.0f} minutes")
                sleep(left)


def _measures(files: FileSystem, data: Path, on_gpu: bool, record: Record) -> dict[str, Measure]:
    """Return what can be measured here, and note in the record what cannot."""
    photographs = files.images()
    device = "cuda" if on_gpu else "cpu"
    ways, broken = gpu.usable(gpu.decoders(device), photographs)
    record.parts["decoding"].left_out = broken
    wait = torch.cuda.synchronize if on_gpu else _nothing
    measures: dict[str, Measure] = {
        "epochs": files.epochs,
        "operations": files.operations,
        "decoding": lambda number: gpu.decoding(ways, photographs, time.perf_counter, wait),
    }
    if not on_gpu:
        for name in (name for name, kind in PARTS.items() if kind.needs_gpu):
            record.parts[name].missing = "no CUDA device"
        return measures
    return measures | gpu.measures(torch.cuda, device, data / FILES)


def _settings(images: int, quick: bool) -> Settings:
    rounds, most, packed, seconds = (1, 20, 20, 0.1) if quick else (ROUNDS, 200, 2000, 1.0)
    slices = images_of_a_slice(images, rounds, most)
    return Settings(rounds, slices, min(packed, images), seconds, images)


def _nothing() -> None:
    pass


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.record", description=__doc__, epilog=EXAMPLES
    )
    parser.add_argument(
        "--hours", type=float, default=HOURS, help="spread the rounds over this time (%(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="one small round, which no lesson shows")
    parser.add_argument("--out", type=Path, help="the file to write or continue (default: beside the data)")
    parser.add_argument("--check", type=Path, metavar="FILE", help="only say what is wrong with a record")
    return parser

"""Check how often a dataset of several shards opens, lists and inspects files."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import (
    USES,
    FileActivity,
    FileRecorder,
    Inputs,
    Mistake,
    Recorded,
    SampleRecord,
    Truth,
    activity_of,
    draw_members,
    environment,
    expect_samples,
    folder_with,
    ignore_warnings,
    record_samples,
    recording,
    zip_bytes,
)
from course_utils.checks.multi_worker_handles._two_datasets import (
    Together,
    expect_lengths,
    expect_no_other_images,
    read_together,
    value_together,
)
from course_utils.system import in_child

LABELS = "labels.json"
STARTED, CREATED, WORKERS = "started", "created", ("worker-1", "worker-2")
HALTS = {process: f"{process}-halt" for process in (CREATED, *WORKERS)}
PARENT = "the process that created the dataset"
EPOCHS = 2
MAX_LISTS, MAX_CREATION_OPENS = 2, 2
MAX_COPIED = 2**18  # bytes in files of one's own; the smaller folder of shards has more

Epochs = dict[str, list[list[SampleRecord]]]  # by folder


class Reads(TypedDict):
    """The lengths by folder, and the epochs that each process read, by its mark."""

    lengths: dict[str, int]
    epochs: dict[str, Epochs]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two folders of shards, one with more than ten; some shards are larger than any read buffer."""
    files, folders, orders = {}, {}, {}
    for folder, sizes in {"one": [3, 3, *[1] * int(rng.integers(9, 11))], "two": [2, 3]}.items():
        members, labels = draw_members(rng, sum(sizes))
        names = rng.permutation(sorted(members)).tolist()
        shards = [[names.pop() for _ in range(size)] for size in sizes]
        for number, shard in enumerate(shards):
            files[f"{folder}/part{number}.zip"] = zip_bytes({name: members[name] for name in shard})
        files[f"{folder}/{LABELS}"] = environment.json.dumps(labels).encode()
        folders[folder] = {"members": members, "labels": labels, "shards": len(shards)}
        orders[folder] = _draw_order(rng, shards)
    halts = {process: int(rng.integers(max(map(len, orders.values())))) for process in HALTS}
    return {"files": files, "orders": orders, "halts": halts}, {"folders": folders, "orders": orders}


def _draw_order(rng: np.random.Generator, shards: list[list[str]]) -> list[int]:
    """Draw an order that reads all first members of shards, then all second ones, and so on.

    The next process that reads a shard starts far from where the last one has ended, so that it has to move
    the position of the file.
    """
    names = sorted(name for shard in shards for name in shard)
    place = {name: k for shard in shards for k, name in enumerate(shard)}
    return sorted(rng.permutation(len(names)).tolist(), key=lambda index: place[names[index]])


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Recorded[Together[Reads]]:
    """Create two datasets, read from them in turn in this process, then in two children, as workers do."""
    with (
        folder_with(inputs["files"], read_only=True) as folder,
        recording(folder) as files,
        ignore_warnings(),
    ):
        alone = [partial(_read_alone, dataset_class, folder / name) for name in inputs["orders"]]
        return files.recorded(
            read_together(lambda: _read(inputs, folder, files, dataset_class), alone, dataset_class)
        )


def _read(inputs: Inputs, folder: Path, files: FileRecorder, dataset_class: Callable[..., Any]) -> Reads:
    files.mark(STARTED)
    datasets = {name: dataset_class(folder / name) for name in inputs["orders"]}
    lengths = {name: len(dataset) for name, dataset in datasets.items()}
    epochs = {CREATED: _read_epochs(datasets, files, inputs, CREATED)}
    for worker in WORKERS:
        epochs[worker] = in_child(_read_epochs, datasets, files, inputs, worker)
    return {"lengths": lengths, "epochs": epochs}


def _read_alone(dataset_class: Callable[..., Any], path: Path) -> None:
    dataset = dataset_class(path)
    record_samples(dataset, list(range(len(dataset))))


def _read_epochs(datasets: dict[str, Any], files: FileRecorder, inputs: Inputs, process: str) -> Epochs:
    """Read all samples of all datasets twice, in turn, with a halt at some place of the last epoch."""
    files.mark(process)
    orders = inputs["orders"]
    found: Epochs = {name: [[] for _ in range(EPOCHS)] for name in datasets}
    for epoch in range(EPOCHS):
        for step in range(max(map(len, orders.values()))):
            for name, dataset in datasets.items():
                index = orders[name][step : step + 1]
                found[name][epoch] += record_samples(dataset, [i for i in index if i < len(dataset)])
            if (epoch, step) == (EPOCHS - 1, inputs["halts"][process]):
                files.mark(HALTS[process])
    return found


def judge(truth: Truth, recorded: Recorded[Together[Reads]]) -> str:
    """Check the samples that each process read, then what it did with the files."""
    found = value_together(recorded["value"], truth["folders"])
    expect_lengths(found["lengths"], truth["folders"])
    for folder, pack in truth["folders"].items():
        for process in (CREATED, *WORKERS):
            epochs = found["epochs"][process][folder]
            if len(epochs) != EPOCHS:
                raise Mistake("wrong_length", f"{_who(process)} did not read all epochs.")
            for epoch in epochs:
                expect_no_other_images(epoch, pack, truth["folders"])
                expect_samples(epoch, truth["orders"][folder], pack, _who(process))
    _judge_files(truth, activity_of(recorded["files"]))
    return "Each process opens each shard once; everything else is read once and kept."


def _who(process: str) -> str:
    return "a worker" if process in WORKERS else PARENT


def _judge_files(truth: Truth, activity: FileActivity) -> None:
    """Check what was done to create the datasets and to read from them, and that no handle is shared."""
    shards = sum(folder["shards"] for folder in truth["folders"].values())
    samples = EPOCHS * sum(map(len, truth["orders"].values()))
    reading, parent = activity.after(CREATED), activity.marked(CREATED)
    known = {parent: PARENT} | {activity.marked(worker): "a worker" for worker in WORKERS}
    strangers = set(reading.processes()) - set(known)
    if reading.count("run") or strangers:
        raise Mistake(
            "command_per_sample",
            "Reading samples started other programs or processes; read the zips in Python, with the zipfile "
            "module.",
        )
    for process, who in known.items():
        _judge_reader(reading.of(process), who, samples, shards)
    if shared := activity.shared():
        raise Mistake(
            "shared_handle",
            f"A worker read {shared[0].name} through a handle that another process had read through before: "
            "both use the same open file, with one position. Each process needs its own handles (key them by "
            "os.getpid()), or none.",
        )
    if (stored := _most_written(activity)) > MAX_COPIED:
        raise Mistake(
            "copies_the_shards",
            f"Your code wrote {stored:,} bytes to other files. Read the shards where they are, or keep "
            "them in memory: a copy takes as much space again, and is opened without being counted.",
        )
    _judge_creation(activity.before(CREATED))


def _most_written(activity: FileActivity) -> int:
    """Return the most bytes that one process has written until its halt."""
    start = activity.used_by(STARTED)
    used = {process: activity.used_by(halt) for process, halt in HALTS.items()}
    if start is None or None in used.values():
        return 0
    # A forked process counts from zero.
    return max(one.written - (start.written if who == CREATED else 0) for who, one in used.items() if one)


def _judge_reader(activity: FileActivity, who: str, samples: int, shards: int) -> None:
    opens = activity.count("open")
    where = f"To read {samples} samples, {who}"
    if labels := _of(activity.count("open", *USES), LABELS):
        times = _times(_of(opens, LABELS) or labels)
        raise Mistake(
            "reads_labels_again",
            f"{where} read {LABELS} {times}. Read the labels only when the dataset is created: every worker "
            "gets a copy of the dataset, labels included.",
        )
    if listed := activity.count("list").total():
        raise Mistake(
            "lists_again",
            f"{where} listed a folder {_times(listed)}. The shards do not change during training: list the "
            "folder only when the dataset is created.",
        )
    for name, opened in opens.items():
        if opened > 1:
            raise Mistake(
                "opens_per_sample",
                f"{where} opened {name} {opened} times; once is enough. Keep one handle per shard and "
                "process, and use it for all samples and all epochs.",
            )
    inspected = activity.count("look").total()
    if inspected > shards:
        raise Mistake(
            "looks_per_sample",
            f"{where} asked {inspected} times whether a file exists or for its attributes. On a shared file "
            "system, each such call goes to a server. Just open the file; a missing one raises an error.",
        )


def _judge_creation(activity: FileActivity) -> None:
    opens = activity.count("open")
    labels = max((count for name, count in opens.items() if name.endswith(LABELS)), default=0)
    lists = max(activity.count("list").values(), default=0)
    if lists > MAX_LISTS or labels > 1:
        raise Mistake(
            "slow_start",
            f"Creating the dataset listed the folder {_times(lists)} and opened {LABELS} {_times(labels)}. "
            "List the folder once and read the labels once.",
        )
    if (most := max(opens.values(), default=0)) > MAX_CREATION_OPENS:
        raise Mistake(
            "slow_start",
            f"Creating the dataset opened one file {most} times. Opening a shard once gives the names of all "
            "its members.",
        )


def _of(counts: Counter[str], file: str) -> int:
    return sum(count for name, count in counts.items() if name.endswith(file))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"

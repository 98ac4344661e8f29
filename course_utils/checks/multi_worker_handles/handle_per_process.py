"""Check that every process reads through a file handle of its own.

The check does not wait for a race. Processes read one after another, and what counts is whether two of them
read at the position of one open file description.
"""

import zipfile
from collections.abc import Callable
from functools import partial
from typing import Any, TypedDict

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from course_utils.checks import core
from course_utils.checks.multi_worker_handles._two_datasets import (
    Together,
    expect_images,
    expect_lengths,
    expect_no_other_images,
    read_together,
    value_together,
)
from course_utils.system import fork_by_default, in_child

mistake = core.Messages(__name__)

PACKS = ("one.zip", "two.zip")  # the second is read with a transform
PARENT, CHILD, GRANDCHILD, WORKER, CLOSED = "parent", "child", "grandchild", "worker", "closed"
WHO = {
    PARENT: "the parent process",
    CHILD: "a child process",
    GRANDCHILD: "a grandchild process",
    WORKER: "a DataLoader worker",
}
STARTED, READ = "started", "parent-read"
MAX_OPENS = 2  # once to read the names, once to keep
MAX_WRITTEN = 2**16
ROUNDS = 2

Samples = dict[str, list[core.SampleRecord]]  # by pack


class Reads(TypedDict):
    """What the probe found.

    Attributes:
        lengths: `len(dataset)` by pack.
        handle: The type that `_get_file_handle` returns, and whether it is a `ZipFile`; None without it.
        samples: The samples of each pass, by process.
    """

    lengths: dict[str, int]
    handle: tuple[str, bool] | None
    samples: dict[str, list[Samples]]


def make(rng: np.random.Generator) -> tuple[core.Inputs, core.Truth]:
    """Draw two packs and the order in which each of four processes reads their samples."""
    packs: dict[str, dict[str, Any]] = {}
    for pack, count in zip(PACKS, (5, 4), strict=True):
        members, labels = core.draw_members(rng, count)
        packs[pack] = {"members": members, "labels": labels}
    files = {name: core.pack_bytes(pack["members"], pack["labels"]) for name, pack in packs.items()}
    # A process that ends at the first place is followed by one that ends at the last.
    orders = {PARENT: [4, 2, 1, 0], CHILD: [0, 3, 1, 4], GRANDCHILD: [4, 1, 3, 0], WORKER: [0, 3, 1, 4]}
    inputs = {"files": files, "orders": orders}
    return inputs, {"packs": packs, "orders": orders}


def probe(inputs: core.Inputs, dataset_class: Callable[..., Any]) -> core.Recorded[Together[Reads]]:
    """Read samples of two datasets in turn, in three generations of processes and in a DataLoader worker."""
    with (
        core.folder_with(inputs["files"], read_only=True) as folder,
        core.recording(folder) as files,
        core.ignore_warnings(),
        fork_by_default(),
    ):
        one, two = (partial(dataset_class, folder / pack) for pack in PACKS)
        mirrored = partial(two, transform=_mirror)
        alone = [partial(_read_alone, create) for create in (one, mirrored)]
        together = partial(_read, inputs, files, one, mirrored)
        return files.recorded(read_together(together, alone, dataset_class))


def _read(
    inputs: core.Inputs, files: core.FileRecorder, one: Callable[[], Any], two: Callable[[], Any]
) -> Reads:
    files.mark(STARTED)
    datasets = dict(zip(PACKS, (one(), two()), strict=True))
    lengths = {pack: len(dataset) for pack, dataset in datasets.items()}
    orders = dict(inputs["orders"])
    worker = _Reading(datasets, files, orders.pop(WORKER))
    samples = _read_in_generations(datasets, files, orders)
    handle = _handle_of(datasets[PACKS[0]])
    samples[WORKER] = list(DataLoader(worker, batch_size=None, num_workers=1, collate_fn=_as_it_is))
    for dataset in datasets.values():
        dataset.close()
    files.mark(CLOSED)
    return {"lengths": lengths, "handle": handle, "samples": samples}


def _read_alone(create: Callable[[], Any]) -> None:
    dataset = create()
    core.record_samples(dataset, list(range(len(dataset))))


def _mirror(image: torch.Tensor) -> torch.Tensor:
    return image.flip(-1)


def _as_it_is(sample: Any) -> Any:  # noqa: ANN401 - a sample
    return sample


def _handle_of(dataset: Any) -> tuple[str, bool] | None:  # noqa: ANN401 - the student's dataset
    get = getattr(dataset, "_get_file_handle", None)
    if get is None:
        return None
    handle = get()
    return type(handle).__name__, isinstance(handle, zipfile.ZipFile)


def _read_in_generations(
    datasets: dict[str, Any], files: core.FileRecorder, orders: dict[str, list[int]]
) -> dict[str, list[Samples]]:
    """Read in this process, then let a child do the same with the orders that are left."""
    (process, order), *later = orders.items()
    files.mark(process)
    found = {process: [_read_in_turn(datasets, order) for _ in range(ROUNDS)]}
    if process == PARENT:
        files.mark(READ)
    if later:
        found |= in_child(_read_in_generations, datasets, files, dict(later))
    return found


def _read_in_turn(datasets: dict[str, Any], order: list[int]) -> Samples:
    found: Samples = {pack: [] for pack in datasets}
    for index in order:
        for pack, dataset in datasets.items():
            found[pack] += core.record_samples(dataset, [index % len(dataset)])
    return found


class _Reading(Dataset[Samples]):
    """Reads the samples of both datasets, one pass an item."""

    def __init__(self, datasets: dict[str, Any], files: core.FileRecorder, order: list[int]) -> None:
        self.datasets, self.files, self.order = datasets, files, order

    def __len__(self) -> int:
        return ROUNDS

    def __getitem__(self, index: int) -> Samples:
        if index == 0:
            self.files.mark(WORKER)
        return _read_in_turn(self.datasets, self.order)


def judge(truth: core.Truth, recorded: core.Recorded[Together[Reads]]) -> str:
    """Check the lengths, the samples that each process got, the type of the handle, and who shared one."""
    found = value_together(recorded["value"], truth["packs"])
    expect_lengths(found["lengths"], truth["packs"])
    for process, order in truth["orders"].items():
        if len(found["samples"][process]) != ROUNDS:
            raise mistake("wrong_length", who=WHO[process])
        for samples in found["samples"][process]:
            for name, pack in truth["packs"].items():
                expect_no_other_images(samples[name], pack, truth["packs"])
                indices = [index % len(pack["members"]) for index in order]
                lost = None if name == PACKS[0] else mistake("transform_lost", where=WHO[process])
                expect_images(samples[name], indices, pack, WHO[process], lost)
    if found["handle"] is not None and not found["handle"][1]:
        raise mistake("no_zipfile", handle=found["handle"][0])
    _judge_files(truth, core.activity_of(recorded["files"]))
    return "Each process reads through its own handle, opens it once and closes it."


def _judge_files(truth: core.Truth, activity: core.FileActivity) -> None:
    """Check how often each process opened the packs, that none shares a handle, and what is left open."""
    names = {activity.marked(process): who for process, who in WHO.items()}
    _judge_sharing(activity, names)
    used = activity.used_between(STARTED, READ)
    if used is not None and used.written > MAX_WRITTEN:
        raise mistake("copies_the_file", written=used.written)
    for process in activity.processes():
        opens = activity.of(process).count("open")
        most, who = max(opens[pack] for pack in PACKS), names.get(process, "another process")
        if most > MAX_OPENS:
            raise mistake("opens_per_sample", samples=ROUNDS * 4, who=who, opens=most)
    for total in (activity.count("open")[pack] for pack in PACKS):
        if total > MAX_OPENS * len(truth["orders"]):
            who = f"{len(activity.processes())} processes"
            raise mistake("opens_per_sample", samples=ROUNDS * 4, who=who, opens=total)
    if left := activity.before(CLOSED).left_open(activity.marked(PARENT)):
        raise mistake("left_open", handles="a handle" if len(left) == 1 else f"{len(left)} handles")


def _judge_sharing(activity: core.FileActivity, names: dict[int, str]) -> None:
    worker, pairs = activity.marked(WORKER), [(one.owner, one.reader) for one in activity.shared()]
    for pair in pairs:
        owner, reader = (names.get(process, "another process") for process in pair)
        mistakes = {"keyed_by_worker": all(worker not in pair for pair in pairs), "shared_handle": True}
        mistake.raise_first(mistakes, owner=owner, reader=reader, who=reader.capitalize())

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

from course_utils.checks.core import (
    FileActivity,
    FileRecorder,
    Inputs,
    Mistake,
    Recorded,
    SampleRecord,
    Truth,
    activity_of,
    draw_members,
    expect_samples,
    folder_with,
    ignore_warnings,
    pack_bytes,
    record_samples,
    recording,
)
from course_utils.checks.multi_worker_handles._two_datasets import (
    Together,
    expect_lengths,
    expect_no_other_images,
    read_together,
    value_together,
)
from course_utils.system import fork_by_default, in_child

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

Samples = dict[str, list[SampleRecord]]  # by pack


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


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two packs and the order in which each of four processes reads their samples."""
    packs: dict[str, dict[str, Any]] = {}
    for pack, count in zip(PACKS, (5, 4), strict=True):
        members, labels = draw_members(rng, count)
        packs[pack] = {"members": members, "labels": labels}
    files = {name: pack_bytes(pack["members"], pack["labels"]) for name, pack in packs.items()}
    # A process that ends at the first place is followed by one that ends at the last.
    orders = {PARENT: [4, 2, 1, 0], CHILD: [0, 3, 1, 4], GRANDCHILD: [4, 1, 3, 0], WORKER: [0, 3, 1, 4]}
    inputs = {"files": files, "orders": orders}
    return inputs, {"packs": packs, "orders": orders}


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Recorded[Together[Reads]]:
    """Read samples of two datasets in turn, in three generations of processes and in a DataLoader worker."""
    with (
        folder_with(inputs["files"], read_only=True) as folder,
        recording(folder) as files,
        ignore_warnings(),
        fork_by_default(),
    ):
        one, two = (partial(dataset_class, folder / pack) for pack in PACKS)
        mirrored = partial(two, transform=_mirror)
        alone = [partial(_read_alone, create) for create in (one, mirrored)]
        return files.recorded(
            read_together(lambda: _read(inputs, files, one, mirrored), alone, dataset_class)
        )


def _read(inputs: Inputs, files: FileRecorder, one: Callable[[], Any], two: Callable[[], Any]) -> Reads:
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
    record_samples(dataset, list(range(len(dataset))))


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
    datasets: dict[str, Any], files: FileRecorder, orders: dict[str, list[int]]
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
            found[pack] += record_samples(dataset, [index % len(dataset)])
    return found


class _Reading(Dataset[Samples]):
    """Reads the samples of both datasets, one pass an item."""

    def __init__(self, datasets: dict[str, Any], files: FileRecorder, order: list[int]) -> None:
        self.datasets, self.files, self.order = datasets, files, order

    def __len__(self) -> int:
        return ROUNDS

    def __getitem__(self, index: int) -> Samples:
        if index == 0:
            self.files.mark(WORKER)
        return _read_in_turn(self.datasets, self.order)


def judge(truth: Truth, recorded: Recorded[Together[Reads]]) -> str:
    """Check the lengths, the samples that each process got, the type of the handle, and who shared one."""
    found = value_together(recorded["value"], truth["packs"])
    expect_lengths(found["lengths"], truth["packs"])
    for process, order in truth["orders"].items():
        if len(found["samples"][process]) != ROUNDS:
            raise Mistake("wrong_length", f"{WHO[process]} did not get all samples.")
        for samples in found["samples"][process]:
            for pack, mirrored in zip(PACKS, (False, True), strict=True):
                expect_no_other_images(samples[pack], truth["packs"][pack], truth["packs"])
                _judge_samples(samples[pack], order, truth["packs"][pack], WHO[process], mirrored)
    if found["handle"] is not None and not found["handle"][1]:
        raise Mistake(
            "no_zipfile",
            f"_get_file_handle() returns an object of type {found['handle'][0]}; it should return a "
            "zipfile.ZipFile, which other methods use to read members by name.",
        )
    _judge_files(truth, activity_of(recorded["files"]))
    return "Each process reads through its own handle, opens it once and closes it."


def _judge_samples(
    samples: list[SampleRecord], order: list[int], pack: Truth, where: str, mirrored: bool
) -> None:
    indices = [index % len(pack["members"]) for index in order]
    if not mirrored:
        expect_samples(samples, indices, pack, where)
        return
    plain = [{**s, "array": None if s["array"] is None else s["array"][..., ::-1]} for s in samples]
    try:
        expect_samples(plain, indices, pack, where)  # type: ignore[arg-type]
    except Mistake as mistake:
        if mistake.name == "other_pixels" and _matches(samples, indices, pack, where):
            raise Mistake(
                "transform_lost",
                f"The samples read in {where} are right, but without the transform that was passed to the "
                "dataset. Apply self.transform to the image whenever a sample is read.",
            ) from None
        raise


def _matches(samples: list[SampleRecord], indices: list[int], pack: Truth, where: str) -> bool:
    try:
        expect_samples(samples, indices, pack, where)
    except Mistake:
        return False
    return True


def _judge_files(truth: Truth, activity: FileActivity) -> None:
    """Check how often each process opened the packs, that none shares a handle, and what is left open."""
    names = {activity.marked(process): who for process, who in WHO.items()}
    _judge_sharing(activity, names)
    used = activity.used_between(STARTED, READ)
    if used is not None and used.written > MAX_WRITTEN:
        raise Mistake(
            "copies_the_file",
            f"To create two datasets and read from them, the parent process wrote {used.written:,} bytes. "
            "Leave the images where they are: a copy takes as much space again, and processes can share its "
            "handle, too.",
        )
    for process in activity.processes():
        opens = activity.of(process).count("open")
        most = max((opens[pack] for pack in PACKS), default=0)
        if most > MAX_OPENS:
            _fail_opens(names.get(process, "another process"), most)
    for pack in PACKS:
        if (total := activity.count("open")[pack]) > MAX_OPENS * len(truth["orders"]):
            _fail_opens(f"{len(activity.processes())} processes", total)
    if left := activity.before(CLOSED).left_open(activity.marked(PARENT)):
        handles = "a handle" if len(left) == 1 else f"{len(left)} handles"
        raise Mistake(
            "left_open",
            f"dataset.close() has left {handles} on the zip open in this process. Close what you opened: the "
            "number of open files per process is limited.",
        )


def _fail_opens(who: str, opens: int) -> None:
    raise Mistake(
        "opens_per_sample",
        f"To read {ROUNDS * 4} samples, {who} opened the zip {opens} times. Each time it reads the zip's "
        "whole central directory again: keep the handle and use it for all samples of this process.",
    )


def _judge_sharing(activity: FileActivity, names: dict[int, str]) -> None:
    shared = activity.shared()
    if not shared:
        return
    owner = names.get(shared[0].owner, "another process")
    reader = names.get(shared[0].reader, "another process")
    worker = activity.marked(WORKER)
    if all(worker not in (one.owner, one.reader) for one in shared):
        raise Mistake(
            "keyed_by_worker",
            f"A DataLoader worker gets its own handle, but {reader} shares the one of {owner}. "
            "worker_info is None in every process that is not a worker, so it cannot tell such "
            "processes apart (two training processes on one node, for example). os.getpid() can.",
        )
    raise Mistake(
        "shared_handle",
        f"{reader.capitalize()} read through a handle that {owner} had read through before: both use the "
        "same open file, with one position. When both read at once, either may get bytes from the other's "
        "position. Remember which process opened a handle (os.getpid()), and open a new one in every other "
        "process. A lock does not help: processes would wait for each other. Nor does it help to move the "
        "position back.",
    )

"""Check that a dataset can be pickled at any time, and works in a process that knows nothing of the original.

A process that `spawn` starts cannot import a class of a notebook. So the receiver is forked before the
datasets are made: it has their class, and neither their handles nor anything else that they keep in memory. A
process that `spawn` has started judges each answer of the bank alike
(tests/checks/spawned/test_real_spawn.py).
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypedDict

import numpy as np

from course_utils.checks import core
from course_utils.checks.multi_worker_handles._two_datasets import (
    Together,
    expect_images,
    expect_no_other_images,
    read_together,
    value_together,
)
from course_utils.system import waiting_child

mistake = core.Messages(__name__)

PACKS = {"one.zip": False, "two.zip": True}  # and whether its dataset flips the images
RECEIVER = "receiver"
MAX_BYTES = 8_000
LOCALS = ("lambda", "local object", "<locals>")  # in the error of a pickle, as those of open files
HANDLES = ("_io.", "Buffered", "FileIO", "RLock", "mmap", "ZipFile")
HERE, THERE = "the process that made the dataset", "the receiving process"


class Arrival(TypedDict):
    """The samples read after unpickling in the receiver, and after another round of pickling there."""

    first: core.Attempt
    again: core.Attempt


class Trip(TypedDict):
    """The size of a pickle, and what the receiver read from it."""

    pickled: core.Attempt
    arrived: Arrival


class Trips(TypedDict):
    """A dataset's samples before and after it was pickled, that pickle, and one of a dataset never used."""

    before: list[core.SampleRecord]
    fresh: Trip
    used: Trip
    after: core.Attempt


def make(rng: np.random.Generator) -> tuple[core.Inputs, core.Truth]:
    """Draw two packs and orders of reading."""
    files, packs = {}, {}
    for name, count in zip(PACKS, (5, 4), strict=True):
        members, labels = core.draw_members(rng, count)
        order = rng.permutation(count).tolist()
        files[name] = core.pack_bytes(members, labels)
        packs[name] = {"members": members, "labels": labels, "order": order}
    orders = {name: pack["order"] for name, pack in packs.items()}
    return {"files": files, "orders": orders}, packs


def probe(
    inputs: core.Inputs, dataset_class: Callable[..., Any]
) -> core.Recorded[Together[dict[str, Trips]]]:
    """Pickle two datasets that were used, and two that were not; read the pickles in an older process."""
    orders: dict[str, list[int]] = inputs["orders"]
    with (
        core.folder_with(inputs["files"], read_only=True) as folder,
        core.recording(folder) as files,
        core.ignore_warnings(),
        waiting_child(partial(_receive, files, orders)) as send,
    ):
        creates = {name: partial(dataset_class, folder / name, flip) for name, flip in PACKS.items()}
        alone = [partial(_read_alone, create, orders[name]) for name, create in creates.items()]
        return files.recorded(read_together(lambda: _travel(creates, orders, send), alone, dataset_class))


def _travel(
    creates: Mapping[str, Callable[[], Any]],
    orders: dict[str, list[int]],
    send: Callable[[bytes], dict[str, list[Arrival]]],
) -> dict[str, Trips]:
    fresh = {name: _pickle(create()) for name, create in creates.items()}
    datasets = {name: create() for name, create in creates.items()}
    before = {name: core.record_samples(dataset, orders[name]) for name, dataset in datasets.items()}
    used = {name: _pickle(dataset) for name, dataset in datasets.items()}
    pickles = {name: [fresh[name].get("value"), used[name].get("value")] for name in PACKS}
    arrived = send(core.evidence.encode(pickles))
    return {
        name: {
            "before": before[name],
            "fresh": {"pickled": _size(fresh[name]), "arrived": arrived[name][0]},
            "used": {"pickled": _size(used[name]), "arrived": arrived[name][1]},
            "after": _read(datasets[name], orders[name]),
        }
        for name in PACKS
    }


def _read_alone(create: Callable[[], Any], order: list[int]) -> None:
    core.record_samples(create(), order)


def _receive(
    files: core.FileRecorder, orders: dict[str, list[int]], wait: Callable[[], bytes]
) -> dict[str, list[Arrival]]:
    """Wait for pickles, unpickle all of them, then read."""
    files.mark(RECEIVER)
    pickles: dict[str, list[bytes | None]] = core.evidence.decode(wait())
    datasets = {name: [_unpickle(data) for data in both] for name, both in pickles.items()}
    return {
        name: [_read_and_send_on(dataset, orders[name]) for dataset in both]
        for name, both in datasets.items()
    }


def _read_and_send_on(unpickled: core.Attempt, order: list[int]) -> Arrival:
    if "error" in unpickled:
        return {"first": unpickled, "again": unpickled}
    first = _read(unpickled["value"], order)
    again = core.attempt(
        lambda: core.record_samples(
            core.environment.pickle.loads(core.environment.pickle.dumps(unpickled["value"])), order
        )
    )
    return {"first": first, "again": again}


def _pickle(dataset: Any) -> core.Attempt:  # noqa: ANN401 - the student's dataset
    return core.attempt(lambda: bytes(core.environment.pickle.dumps(dataset)))


def _unpickle(data: bytes | None) -> core.Attempt:
    return (
        {"error": "there is no pickle"}
        if data is None
        else core.attempt(lambda: core.environment.pickle.loads(data))
    )


def _size(pickled: core.Attempt) -> core.Attempt:
    return {"value": len(pickled["value"])} if "value" in pickled else pickled


def _read(dataset: Any, order: list[int]) -> core.Attempt:  # noqa: ANN401 - the student's dataset
    return core.attempt(lambda: core.record_samples(dataset, order))


def judge(truth: core.Truth, recorded: core.Recorded[Together[dict[str, Trips]]]) -> str:
    """Check the size of the pickles, the samples of the originals and of each copy, and who opened files."""
    _judge_samples(truth, recorded["value"])
    _judge_files(truth, core.activity_of(recorded["files"]))
    return "The pickled dataset carries only what it needs, and both the original and its copy work."


def _judge_samples(truth: core.Truth, attempted: Together[dict[str, Trips]]) -> None:
    found = value_together(attempted, truth)
    for name in PACKS:
        expect_no_other_images(found[name]["before"], truth[name], truth)
    for name, flip in PACKS.items():
        _judge_one(truth[name], found[name], flip)


def _judge_one(pack: core.Truth, found: Trips, flip: bool) -> None:
    _expect(found["before"], pack, flip, HERE)
    _judge_pickling(found["fresh"]["pickled"], "before its first use")
    _judge_pickling(found["used"]["pickled"], "after it was used")
    for arrived in (found["fresh"]["arrived"], found["used"]["arrived"]):
        if "error" in arrived["first"]:
            raise mistake("useless_after_arrival", error=arrived["first"]["error"])
        _expect(arrived["first"]["value"], pack, flip, THERE)
        if "error" in arrived["again"]:
            _judge_pickling(arrived["again"], "again, after it was unpickled and used")
        _expect(arrived["again"]["value"], pack, flip, f"{THERE}, pickled once more")
    if "error" in found["after"]:
        raise mistake("breaks_the_original", error=found["after"]["error"])
    _expect(core.value_of(found["after"]), pack, flip, "the original, after pickling")


def _judge_pickling(pickled: core.Attempt, when: str) -> None:
    error, size = pickled.get("error", ""), pickled.get("value", 0)
    named = [part for part in (*LOCALS, *HANDLES) if part in core.error_in(error)]
    mistakes = {
        "lambda_in_state": {*LOCALS} & {*named},
        "handle_in_state": named,
        "cannot_travel": error,
        "carries_the_file.size": size > MAX_BYTES,
    }
    mistake.raise_first(mistakes, when=when, error=error, size=size, max_bytes=MAX_BYTES)


def _expect(samples: list[core.SampleRecord], pack: core.Truth, flip: bool, where: str) -> None:
    where = f"{where} with flip=True" if flip else where
    expect_images(samples, pack["order"], pack, where, mistake("flip_lost", where=where) if flip else None)


def _judge_files(truth: core.Truth, activity: core.FileActivity) -> None:
    """Check that the receiver is older than the datasets, and that it opened the zips itself."""
    receiver = activity.marked(RECEIVER)
    if activity.before(RECEIVER).count("open"):
        raise mistake("no_evidence")
    for name in PACKS:
        if not activity.of(receiver).count("open")[name]:
            raise mistake("carries_the_file.unread")

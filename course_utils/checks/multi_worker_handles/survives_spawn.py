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

from course_utils.checks.core import (
    Attempt,
    FileActivity,
    FileRecorder,
    Inputs,
    Mistake,
    Recorded,
    SampleRecord,
    Truth,
    activity_of,
    attempt,
    draw_members,
    environment,
    error_in,
    evidence,
    expect_samples,
    folder_with,
    ignore_warnings,
    pack_bytes,
    record_samples,
    recording,
    value_of,
)
from course_utils.checks.multi_worker_handles._two_datasets import (
    Together,
    expect_no_other_images,
    read_together,
    value_together,
)
from course_utils.system import waiting_child

PACKS = {"one.zip": False, "two.zip": True}  # and whether its dataset flips the images
RECEIVER = "receiver"
MAX_BYTES = 8_000
HERE, THERE = "the process that made the dataset", "the receiving process"


class Arrival(TypedDict):
    """The samples read after unpickling in the receiver, and after another round of pickling there."""

    first: Attempt
    again: Attempt


class Trip(TypedDict):
    """The size of a pickle, and what the receiver read from it."""

    pickled: Attempt
    arrived: Arrival


class Trips(TypedDict):
    """A dataset's samples before and after it was pickled, that pickle, and one of a dataset never used."""

    before: list[SampleRecord]
    fresh: Trip
    used: Trip
    after: Attempt


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two packs and orders of reading."""
    files, packs = {}, {}
    for name, count in zip(PACKS, (5, 4), strict=True):
        members, labels = draw_members(rng, count)
        order = rng.permutation(count).tolist()
        files[name] = pack_bytes(members, labels)
        packs[name] = {"members": members, "labels": labels, "order": order}
    orders = {name: pack["order"] for name, pack in packs.items()}
    return {"files": files, "orders": orders}, packs


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Recorded[Together[dict[str, Trips]]]:
    """Pickle two datasets that were used, and two that were not; read the pickles in an older process."""
    orders: dict[str, list[int]] = inputs["orders"]
    with (
        folder_with(inputs["files"], read_only=True) as folder,
        recording(folder) as files,
        ignore_warnings(),
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
    before = {name: record_samples(dataset, orders[name]) for name, dataset in datasets.items()}
    used = {name: _pickle(dataset) for name, dataset in datasets.items()}
    pickles = {name: [fresh[name].get("value"), used[name].get("value")] for name in PACKS}
    arrived = send(evidence.encode(pickles))
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
    record_samples(create(), order)


def _receive(
    files: FileRecorder, orders: dict[str, list[int]], wait: Callable[[], bytes]
) -> dict[str, list[Arrival]]:
    """Wait for pickles, unpickle all of them, then read."""
    files.mark(RECEIVER)
    pickles: dict[str, list[bytes | None]] = evidence.decode(wait())
    datasets = {name: [_unpickle(data) for data in both] for name, both in pickles.items()}
    return {
        name: [_read_and_send_on(dataset, orders[name]) for dataset in both]
        for name, both in datasets.items()
    }


def _read_and_send_on(unpickled: Attempt, order: list[int]) -> Arrival:
    if "error" in unpickled:
        return {"first": unpickled, "again": unpickled}
    first = _read(unpickled["value"], order)
    again = attempt(
        lambda: record_samples(environment.pickle.loads(environment.pickle.dumps(unpickled["value"])), order)
    )
    return {"first": first, "again": again}


def _pickle(dataset: Any) -> Attempt:  # noqa: ANN401 - the student's dataset
    return attempt(lambda: bytes(environment.pickle.dumps(dataset)))


def _unpickle(data: bytes | None) -> Attempt:
    return (
        {"error": "there is no pickle"} if data is None else attempt(lambda: environment.pickle.loads(data))
    )


def _size(pickled: Attempt) -> Attempt:
    return {"value": len(pickled["value"])} if "value" in pickled else pickled


def _read(dataset: Any, order: list[int]) -> Attempt:  # noqa: ANN401 - the student's dataset
    return attempt(lambda: record_samples(dataset, order))


def judge(truth: Truth, recorded: Recorded[Together[dict[str, Trips]]]) -> str:
    """Check the size of the pickles, the samples of the originals and of each copy, and who opened files."""
    _judge_samples(truth, recorded["value"])
    _judge_files(truth, activity_of(recorded["files"]))
    return "The pickled dataset carries only what it needs, and both the original and its copy work."


def _judge_samples(truth: Truth, attempted: Together[dict[str, Trips]]) -> None:
    found = value_together(attempted, truth)
    for name in PACKS:
        expect_no_other_images(found[name]["before"], truth[name], truth)
    for name, flip in PACKS.items():
        _judge_one(truth[name], found[name], flip)


def _judge_one(pack: Truth, found: Trips, flip: bool) -> None:
    _expect(found["before"], pack, flip, HERE)
    _judge_pickling(found["fresh"]["pickled"], "before its first use")
    _judge_pickling(found["used"]["pickled"], "after it was used")
    for arrived in (found["fresh"]["arrived"], found["used"]["arrived"]):
        if "error" in arrived["first"]:
            raise Mistake(
                "useless_after_arrival",
                "The dataset was unpickled in another process, but cannot be used: "
                f"{arrived['first']['error']}. What __getstate__ leaves out must be created again, in "
                "__setstate__ or when it is first needed. Numbers of open files mean nothing in another "
                "process.",
            )
        _expect(arrived["first"]["value"], pack, flip, THERE)
        if "error" in arrived["again"]:
            _judge_pickling(arrived["again"], "again, after it was unpickled and used")
        _expect(arrived["again"]["value"], pack, flip, f"{THERE}, pickled once more")
    if "error" in found["after"]:
        raise Mistake(
            "breaks_the_original",
            f"After it was pickled, the original dataset no longer works: {found['after']['error']}. "
            "__getstate__ must change a copy (self.__dict__.copy()), not the object itself: the parent "
            "still uses it.",
        )
    _expect(value_of(found["after"]), pack, flip, "the original, after pickling")


def _judge_pickling(pickled: Attempt, when: str) -> None:
    if "error" in pickled:
        text = error_in(pickled["error"])
        failed = f"The dataset cannot be pickled {when}: {pickled['error']}"
        if "lambda" in text or "local object" in text or "<locals>" in text:
            raise Mistake(
                "lambda_in_state",
                f"{failed}. A lambda or a function defined inside another one has no name that another "
                "process could look up. Keep plain data (the flag itself), or a function of a module.",
            )
        if any(part in text for part in ("_io.", "Buffered", "FileIO", "RLock", "mmap", "ZipFile")):
            raise Mistake(
                "handle_in_state",
                f"{failed}. An open file belongs to its process and cannot be sent. Leave it out in "
                "__getstate__, or open it only when a sample is first read and drop it when pickling.",
            )
        raise Mistake("cannot_travel", failed)
    if pickled["value"] > MAX_BYTES:
        raise Mistake(
            "carries_the_file",
            f"The pickled dataset has {pickled['value']:,} bytes: it sends contents of the zip to every "
            f"worker. Send the path ({MAX_BYTES:,} bytes are plenty) and let each worker read for itself.",
        )


def _expect(samples: list[SampleRecord], pack: Truth, flip: bool, where: str) -> None:
    if not flip:
        expect_samples(samples, pack["order"], pack, where)
        return
    where = f"{where} with flip=True"
    plain: list[SampleRecord] = [
        {**sample, "array": None if sample["array"] is None else sample["array"][..., ::-1]}
        for sample in samples
    ]
    try:
        expect_samples(plain, pack["order"], pack, where)
    except Mistake as mistake:
        if mistake.name == "other_pixels" and _is_plain(samples, pack):
            raise Mistake(
                "flip_lost", f"The images read in {where} are not flipped. The flag has to travel, too."
            ) from None
        raise


def _is_plain(samples: list[SampleRecord], pack: Truth) -> bool:
    try:
        expect_samples(samples, pack["order"], pack, "")
    except Mistake:
        return False
    return True


def _judge_files(truth: Truth, activity: FileActivity) -> None:
    """Check that the receiver is older than the datasets, and that it opened the zips itself."""
    receiver = activity.marked(RECEIVER)
    if activity.before(RECEIVER).count("open"):
        raise Mistake(
            "no_evidence", "The check's receiving process did not start before the dataset was made."
        )
    for name in PACKS:
        if not activity.of(receiver).count("open")[name]:
            raise Mistake(
                "carries_the_file",
                "The dataset that was unpickled in another process returned samples without reading them "
                "from the zip there: their data came with the pickle, or from the process that made the "
                "dataset. Send the path, and let each process open the zip.",
            )

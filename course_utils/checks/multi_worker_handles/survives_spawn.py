"""Check that a dataset can be pickled while in use, and works after unpickling."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.checks.core import (
    Attempt,
    Evidence,
    Inputs,
    Mistake,
    SampleRecord,
    Truth,
    attempt,
    draw_members,
    expect_samples,
    folder_with,
    ignore_warnings,
    pack_bytes,
    record_samples,
    value_of,
)

PACK = "pack.zip"
MAX_BYTES = 20_000


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a pack and an order of reading."""
    members, labels = draw_members(rng, count=5)
    order = rng.permutation(len(members)).tolist()
    inputs = {"files": {PACK: pack_bytes(members, labels)}, "order": order}
    return inputs, {"members": members, "labels": labels, "order": order}


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Pickle and unpickle the dataset twice, with and without flip, and read samples after each trip."""
    with folder_with(inputs["files"]) as folder, ignore_warnings():
        return {
            str(flip): _round_trips(dataset_class(folder / PACK, flip), inputs["order"])
            for flip in (False, True)
        }


def _round_trips(dataset: Any, order: list[int]) -> Evidence:  # noqa: ANN401 - the student's dataset
    found: Evidence = {"before": record_samples(dataset, order), "trips": []}
    sent = dataset
    for _ in range(2):  # an unpickled dataset that was read from may be pickled again
        pickled = _pickle(sent)
        if "error" in pickled:
            found["trips"].append(pickled)
            return found
        sent = pickle.loads(pickled["value"])
        arrived = _read(sent, order)
        found["trips"].append({"bytes": len(pickled["value"]), "arrived": arrived})
        if "error" in arrived:
            return found
    found["after"] = _read(dataset, order)
    return found


def _pickle(dataset: Any) -> Attempt:  # noqa: ANN401 - the student's dataset
    return attempt(lambda: pickle.dumps(dataset))


def _read(dataset: Any, order: list[int]) -> Attempt:  # noqa: ANN401 - the student's dataset
    return attempt(lambda: record_samples(dataset, order))


def judge(truth: Truth, found: Evidence) -> str:
    """Check the size of the pickled dataset, and the samples of the original and of each copy."""
    for flip in (False, True):
        _judge_one(truth, found[str(flip)], flip)
    return "The pickled dataset carries only what it needs, and both the original and its copy work."


def _judge_one(truth: Truth, found: Evidence, flip: bool) -> None:
    _expect(found["before"], truth, flip, "this process")
    for trip in found["trips"]:
        _judge_pickling(trip)
        if "error" in trip["arrived"]:
            raise Mistake(
                "useless_after_arrival",
                f"The dataset was unpickled, but cannot be used: {trip['arrived']['error']}. What "
                "__getstate__ leaves out must be created again, in __setstate__ or when it is first needed.",
            )
        _expect(trip["arrived"]["value"], truth, flip, "the receiving process")
    if "error" in found["after"]:
        raise Mistake(
            "breaks_the_original",
            f"After it was pickled, the original dataset no longer works: {found['after']['error']}. "
            "__getstate__ must change a copy (self.__dict__.copy()), not the object itself: the parent "
            "still uses it.",
        )
    _expect(value_of(found["after"]), truth, flip, "the original, after pickling")


def _judge_pickling(trip: Evidence) -> None:
    if "error" in trip:
        text = trip["error"]
        if "lambda" in text or "local object" in text or "<locals>" in text:
            raise Mistake(
                "lambda_in_state",
                f"The dataset cannot be pickled: {text}. A lambda or a function defined inside another one "
                "has no name that another process could look up. Keep plain data (the flag itself), or a "
                "function of a module.",
            )
        if any(part in text for part in ("_io.", "Buffered", "FileIO", "RLock", "mmap", "ZipFile")):
            raise Mistake(
                "handle_in_state",
                f"The dataset cannot be pickled: {text}. An open file belongs to its process and cannot be "
                "sent. Leave it out in __getstate__, or open it only when a sample is first read and drop it "
                "when pickling.",
            )
        raise Mistake("cannot_travel", f"The dataset cannot be pickled: {text}")
    if trip["bytes"] > MAX_BYTES:
        raise Mistake(
            "carries_the_file",
            f"The pickled dataset has {trip['bytes']:,} bytes: it sends the contents of the zip to every "
            f"worker. Send the path ({MAX_BYTES:,} bytes are plenty) and let each worker read for itself.",
        )


def _expect(samples: list[SampleRecord], truth: Truth, flip: bool, where: str) -> None:
    if flip:
        where = f"{where} with flip=True"
        samples = [{**s, "array": None if s["array"] is None else s["array"][..., ::-1]} for s in samples]
    expect_samples(samples, truth["order"], truth, where)

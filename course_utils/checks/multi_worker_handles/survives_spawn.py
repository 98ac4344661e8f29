"""Lesson 02: can a dataset be pickled, in use, and work at the other end?"""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils.checks.core import (
    Evidence,
    Inputs,
    Mistake,
    Seen,
    Truth,
    attempt,
    draw_members,
    expect_samples,
    folder_of,
    no_warnings,
    outcome,
    pack,
    seen_samples,
)

PACK = "pack.zip"
MOST_BYTES = 20_000


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a pack and an order of reading."""
    members, labels = draw_members(rng, count=5)
    order = rng.permutation(len(members)).tolist()
    return {"files": {PACK: pack(members, labels)}, "order": order}, {
        "members": members,
        "labels": labels,
        "order": order,
    }


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Pickle and unpickle the dataset twice, with and without flip, and read samples after each trip."""
    with folder_of(inputs["files"]) as folder, no_warnings():
        return {
            str(flip): _travel(dataset_class(folder / PACK, flip), inputs["order"]) for flip in (False, True)
        }


def _travel(dataset: Any, order: list[int]) -> Evidence:  # noqa: ANN401 - the student's dataset
    found: Evidence = {"before": seen_samples(dataset, order), "trips": []}
    traveller = dataset
    for _ in range(2):  # a dataset that has arrived, and was used there, may be sent on
        packed = attempt(lambda dataset=traveller: pickle.dumps(dataset))
        if "error" in packed:
            found["trips"].append(packed)
            return found
        traveller = pickle.loads(packed["value"])
        arrived = attempt(lambda dataset=traveller: seen_samples(dataset, order))
        found["trips"].append({"bytes": len(packed["value"]), "arrived": arrived})
        if "error" in arrived:
            return found
    found["after"] = attempt(lambda: seen_samples(dataset, order))
    return found


def judge(truth: Truth, found: Evidence) -> str:
    """Check the size of the pickled dataset, and the samples of the original and of each copy."""
    for flip in (False, True):
        _judge_one(_flipped(truth) if flip else truth, found[str(flip)])
    return "arrives in another process with nothing but what it needs, and works at both ends"


def _flipped(truth: Truth) -> Truth:
    return {**truth, "flip": True}


def _judge_one(truth: Truth, found: Evidence) -> None:
    _expect(found["before"], truth, "this process")
    for trip in found["trips"]:
        _judge_packing(trip)
        if "error" in trip["arrived"]:
            raise Mistake(
                "useless_after_arrival",
                f"The dataset arrived, but could not be used there: {trip['arrived']['error']}. What "
                "__getstate__ leaves "
                "out must be made again, in __setstate__ or when it is first needed.",
            )
        _expect(trip["arrived"]["value"], truth, "the process at the other end")
    if "error" in found["after"]:
        raise Mistake(
            "breaks_the_original",
            f"After it was pickled, the original dataset no longer works: {found['after']['error']}. "
            "__getstate__ must "
            "change a copy (self.__dict__.copy()), not the object itself: the parent goes on using it.",
        )
    _expect(outcome(found["after"]), truth, "the original, after pickling")


def _judge_packing(trip: Seen) -> None:
    if "error" in trip:
        text = trip["error"]
        if "lambda" in text or "local object" in text or "<locals>" in text:
            raise Mistake(
                "lambda_in_state",
                f"The dataset cannot be pickled: {text}. A lambda or a function made inside another one "
                "has no name "
                "that another process could look up. Keep plain data (the flag itself), or a function of a "
                "module.",
            )
        if any(part in text for part in ("_io.", "Buffered", "FileIO", "RLock", "mmap", "ZipFile")):
            raise Mistake(
                "handle_in_state",
                f"The dataset cannot be pickled: {text}. An open file belongs to its process and cannot "
                "travel. Leave "
                "it out in __getstate__, or open it only when the first sample is asked for and drop it on "
                "the way.",
            )
        raise Mistake("cannot_travel", f"The dataset cannot be pickled: {text}")
    if trip["bytes"] > MOST_BYTES:
        raise Mistake(
            "carries_the_file",
            f"Pickled, the dataset has {trip['bytes']:,} bytes: it carries the contents of the zip to "
            "every worker. "
            f"Send the path ({MOST_BYTES:,} bytes are plenty) and let each worker read for itself.",
        )


def _expect(samples: list[Seen], truth: Truth, where: str) -> None:
    if truth.get("flip"):
        samples = [{**s, "array": None if s["array"] is None else s["array"][..., ::-1]} for s in samples]
    expect_samples(samples, truth["order"], truth, where)

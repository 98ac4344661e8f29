"""Lesson 02: how often does a dataset of several shards open, list and look?"""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from course_utils.checks.core import (
    Evidence,
    Inputs,
    Mistake,
    Truth,
    draw_members,
    expect_samples,
    folder_of,
    no_warnings,
    seen_samples,
    watching,
    zipped,
)
from course_utils.system import in_child

LABELS = "labels.json"
EPOCHS = 2


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw three or four shards, their labels and a random order of reading."""
    shards = int(rng.integers(3, 5))
    members, labels = draw_members(rng, count=3 * shards, padded=False)
    names = sorted(members)
    files = {
        f"part{k}.zip": zipped({name: members[name] for name in names[k::shards]}) for k in range(shards)
    }
    files[LABELS] = json.dumps(labels).encode()
    order = rng.permutation(len(names)).tolist()
    truth = {"members": members, "labels": labels, "order": order, "shards": shards}
    return {"files": files, "order": order}, truth


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Create the dataset here, read two epochs in a child process, and count file operations in both."""
    with folder_of(inputs["files"]) as folder, no_warnings():
        with watching(folder) as seen:
            dataset = dataset_class(folder)
            length = len(dataset)
        work = in_child(_work, dataset, folder, inputs["order"])
        return {"length": length, "making": _counts(seen), **work}


def _work(dataset: Any, folder: Path, order: list[int]) -> Evidence:  # noqa: ANN401 - the student's dataset
    """What a worker does: read everything, twice."""
    with watching(folder) as seen:
        epochs = [seen_samples(dataset, order) for _ in range(EPOCHS)]
    return {"epochs": epochs, "working": _counts(seen)}


def _counts(seen: list[list[str]]) -> dict[str, int]:
    return {f"{kind} {name}".strip(): count for (kind, name), count in Counter(map(tuple, seen)).items()}


def judge(truth: Truth, found: Evidence) -> str:
    """Check the samples, then the number of times files were opened, listed and inspected."""
    if found["length"] != len(truth["members"]):
        raise Mistake(
            "wrong_length",
            f"len(dataset) is {found['length']}; the shards hold {len(truth['members'])} images together.",
        )
    for epoch in found["epochs"]:
        expect_samples(epoch, truth["order"], truth, "a worker")
    _judge_working(found["working"], truth)
    _judge_making(found["making"], truth)
    opens = sum(_of(found["working"], "open").values())
    if opens > truth["shards"]:
        raise Mistake("opens_again", f"{opens} openings for {truth['shards']} shards.")
    return "one opening a shard and process, everything else read once and kept"


def _of(counts: dict[str, int], kind: str) -> dict[str, int]:
    return {key.partition(" ")[2]: count for key, count in counts.items() if key.partition(" ")[0] == kind}


def _judge_working(counts: dict[str, int], truth: Truth) -> None:
    samples = EPOCHS * len(truth["order"])
    if counts.get("process"):
        raise Mistake(
            "command_per_sample", "Reading samples started other programs; read the zips from Python."
        )
    if LABELS in _of(counts, "open"):
        raise Mistake(
            "reads_labels_again",
            f"For {samples} samples a worker opened {LABELS} {_of(counts, 'open')[LABELS]} times. Read the "
            "labels "
            "once, when the dataset is made: every worker gets a copy of the dataset, labels included.",
        )
    if listed := sum(_of(counts, "list").values()):
        raise Mistake(
            "lists_again",
            f"For {samples} samples a worker listed the folder {listed} times. Which shards there are does "
            "not change "
            "during training: list once, when the dataset is made.",
        )
    for name, opened in _of(counts, "open").items():
        if opened > 1:
            raise Mistake(
                "opens_per_sample",
                f"For {samples} samples a worker opened {name} {opened} times; once is enough. Keep one "
                "handle for each "
                "shard and process, and use it for all samples and all epochs.",
            )
    if (looked := sum(_of(counts, "stat").values())) > 2 * truth["shards"]:
        raise Mistake(
            "looks_per_sample",
            f"For {samples} samples a worker asked {looked} times whether a file exists or how it looks. "
            "On a shared "
            "file system each such question travels to a server. Just open the file; a missing one raises "
            "an error.",
        )


def _judge_making(counts: dict[str, int], truth: Truth) -> None:
    if sum(_of(counts, "list").values()) > 2 or _of(counts, "open").get(LABELS, 0) > 1:
        raise Mistake(
            "slow_start",
            "Making the dataset may list the folder and read the labels once; it did so more often.",
        )
    if max(_of(counts, "open").values(), default=0) > 2:
        raise Mistake(
            "slow_start",
            f"Making the dataset opened a file {max(_of(counts, 'open').values())} times. Once per shard "
            "tells all "
            "its members' names.",
        )


def outside(truth: Truth, opened: dict[str, int]) -> None:
    """The same budget once more, over making and working, from a count that no code can reach."""
    shards = max(opened.get(f"part{k}.zip", 0) for k in range(truth["shards"]))
    if shards > 3 or opened.get(LABELS, 0) > 1 or opened.get("", 0) > 2:
        raise Mistake(
            "opens_unseen",
            f"Seen from outside of the program, a shard was opened {shards} times, {LABELS} "
            f"{opened.get(LABELS, 0)} times, and the folder listed {opened.get('', 0)} times: more than the "
            "check saw from within. Open each shard once in a process, and keep what was read.",
        )

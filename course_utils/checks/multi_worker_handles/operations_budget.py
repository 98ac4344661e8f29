"""Check how often a dataset of several shards opens, lists and inspects files."""

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
    folder_with,
    ignore_warnings,
    record_file_events,
    record_samples,
    zip_bytes,
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
        f"part{k}.zip": zip_bytes({name: members[name] for name in names[k::shards]}) for k in range(shards)
    }
    files[LABELS] = json.dumps(labels).encode()
    order = rng.permutation(len(names)).tolist()
    truth = {"members": members, "labels": labels, "order": order, "shards": shards}
    return {"files": files, "order": order}, truth


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Create the dataset, read two epochs in a child process, and count the file operations of both."""
    with folder_with(inputs["files"]) as folder, ignore_warnings():
        with record_file_events(folder) as events:
            dataset = dataset_class(folder)
            length = len(dataset)
        read = in_child(_read_epochs, dataset, folder, inputs["order"])
        return {"length": length, "at_creation": _counts(events), **read}


def _read_epochs(dataset: Any, folder: Path, order: list[int]) -> Evidence:  # noqa: ANN401 - the student's
    """Read all samples twice, as a worker does."""
    with record_file_events(folder) as events:
        epochs = [record_samples(dataset, order) for _ in range(EPOCHS)]
    return {"epochs": epochs, "in_worker": _counts(events)}


def _counts(events: list[list[str]]) -> dict[str, int]:
    return {f"{kind} {name}".strip(): count for (kind, name), count in Counter(map(tuple, events)).items()}


def judge(truth: Truth, found: Evidence) -> str:
    """Check the samples, then how often files were opened, listed and inspected."""
    if found["length"] != len(truth["members"]):
        raise Mistake(
            "wrong_length",
            f"len(dataset) is {found['length']}; the shards together hold {len(truth['members'])} images.",
        )
    for epoch in found["epochs"]:
        expect_samples(epoch, truth["order"], truth, "a worker")
    _judge_worker(found["in_worker"], truth)
    _judge_creation(found["at_creation"])
    if (opens := sum(_of(found["in_worker"], "open").values())) > truth["shards"]:
        raise Mistake(
            "opens_again",
            f"A worker opened {opens} files to read {truth['shards']} shards. Open each shard once and "
            "nothing else.",
        )
    return "Each process opens each shard once; everything else is read once and kept."


def _of(counts: dict[str, int], kind: str) -> dict[str, int]:
    return {key.partition(" ")[2]: count for key, count in counts.items() if key.partition(" ")[0] == kind}


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _judge_worker(counts: dict[str, int], truth: Truth) -> None:
    samples, opens = EPOCHS * len(truth["order"]), _of(counts, "open")
    if counts.get("process"):
        raise Mistake(
            "command_per_sample",
            "Reading samples started other programs; read the zips in Python, with the zipfile module.",
        )
    if LABELS in opens:
        raise Mistake(
            "reads_labels_again",
            f"To read {samples} samples, a worker opened {LABELS} {_times(opens[LABELS])}. Read the labels "
            "only when the dataset is created: every worker gets a copy of the dataset, labels included.",
        )
    if listed := sum(_of(counts, "list").values()):
        raise Mistake(
            "lists_again",
            f"To read {samples} samples, a worker listed the folder {_times(listed)}. The shards do not "
            "change during training: list the folder only when the dataset is created.",
        )
    for name, opened in opens.items():
        if opened > 1:
            raise Mistake(
                "opens_per_sample",
                f"To read {samples} samples, a worker opened {name} {opened} times; once is enough. Keep one "
                "handle per shard and process, and use it for all samples and all epochs.",
            )
    if (inspected := sum(_of(counts, "stat").values())) > 2 * truth["shards"]:
        raise Mistake(
            "looks_per_sample",
            f"To read {samples} samples, a worker asked {inspected} times whether a file exists or for its "
            "attributes. On a shared file system, each such call goes to a server. Just open the file; a "
            "missing one raises an error.",
        )


def _judge_creation(counts: dict[str, int]) -> None:
    opens, lists = _of(counts, "open"), sum(_of(counts, "list").values())
    if lists > 2 or opens.get(LABELS, 0) > 1:
        raise Mistake(
            "slow_start",
            f"Creating the dataset listed the folder {_times(lists)} and opened {LABELS} "
            f"{_times(opens.get(LABELS, 0))}. List the folder once and read the labels once.",
        )
    if (most := max(opens.values(), default=0)) > 2:
        raise Mistake(
            "slow_start",
            f"Creating the dataset opened one file {most} times. Opening a shard once gives the names of all "
            "its members.",
        )


def outside(truth: Truth, opened: dict[str, int]) -> None:
    """Check the same budget for both processes together, as counted outside the sandbox."""
    shards = max(opened.get(f"part{k}.zip", 0) for k in range(truth["shards"]))
    if shards > 3 or opened.get(LABELS, 0) > 1 or opened.get("", 0) > 2:
        raise Mistake(
            "opens_unseen",
            f"Counted from outside the program, a shard was opened {_times(shards)}, {LABELS} "
            f"{_times(opened.get(LABELS, 0))}, and the folder was listed {_times(opened.get('', 0))}: more "
            "than the check saw from inside. Open each shard once per process, and keep what was read.",
        )

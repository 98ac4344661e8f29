"""Lesson 02: does every process read through a handle of its own?

Nothing here waits for a race. Processes read one after another, and whoever shares a handle moves the
other's position in the file, every time.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.data import DataLoader, Dataset

from course_utils.checks.core import (
    Evidence,
    Inputs,
    Mistake,
    Truth,
    draw_members,
    expect_samples,
    folder_of,
    no_warnings,
    pack,
    seen_samples,
    watching,
)
from course_utils.system import file_positions, fork_by_default, in_child

GENERATIONS = 2  # a child, and a child of the child
MOST_OPENS = 2  # once to read the names, once to keep
PACK = "pack.zip"


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a pack and the order in which each of three generations of processes reads its samples."""
    members, labels = draw_members(rng, count=5)
    last = len(members) - 1
    # A generation that ends at the first member is followed by one that ends at the last.
    orders = [[last, 2, 1, 0], [0, 3, 1, last], [last, 1, 3, 0]]
    return {"files": {PACK: pack(members, labels)}, "orders": orders}, {
        "members": members,
        "labels": labels,
        "orders": orders,
    }


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Read samples in three generations of processes and in a DataLoader worker; record file positions."""
    orders = inputs["orders"]
    with folder_of(inputs["files"]) as folder, no_warnings(), fork_by_default():
        path = folder / PACK
        with watching(folder) as seen:
            dataset = dataset_class(path)
            found = {"length": len(dataset), "parent": _one_process(dataset, path, orders)}
        found["parent"]["opens"] = _opens(seen)
        found["worker_moved"] = _moved_by(path, lambda: _read_in_worker(dataset, orders[1]))
        dataset.close()
        found["left_open"] = len(file_positions(path))
        return found


def _one_process(dataset: Any, path: Path, orders: list[list[int]]) -> Evidence:  # noqa: ANN401
    """Read here, then let a child do the same; note whether the child moved a position of ours."""
    with watching(path.parent) as seen:
        found: Evidence = {"samples": [seen_samples(dataset, orders[0]) for _ in range(2)]}
        found["opens"] = _opens(seen)
    if len(orders) > 1:
        children: list[Evidence] = []
        found["moved"] = _moved_by(
            path, lambda: children.append(in_child(_one_process, dataset, path, orders[1:]))
        )
        found["child"] = children[0]
    return found


def _moved_by(path: Path, action: Callable[[], object]) -> bool:
    before = file_positions(path)
    action()
    after = file_positions(path)
    return any(after.get(fd) != position for fd, position in before.items())


def _read_in_worker(dataset: Any, order: list[int]) -> None:  # noqa: ANN401 - the student's dataset
    for _ in DataLoader(_Picked(dataset, order), batch_size=None, num_workers=1):
        pass


class _Picked(Dataset):
    def __init__(self, dataset: Any, order: list[int]) -> None:  # noqa: ANN401 - the student's dataset
        self.dataset, self.order = dataset, order

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: int) -> int:
        self.dataset[self.order[index]]
        return index


def _opens(seen: list[list[str]]) -> int:
    return sum(kind == "open" for kind, _ in seen)


def judge(truth: Truth, found: Evidence) -> str:
    """Check the samples, that no process moved another's file position, and the numbers of open handles."""
    if found["length"] != len(truth["members"]):
        raise Mistake(
            "wrong_length", f"len(dataset) is {found['length']}; the pack has {len(truth['members'])} images."
        )
    process, name = found["parent"], "the parent"
    for generation, order in enumerate(truth["orders"]):
        _judge_process(process, order, truth, name)
        if generation < GENERATIONS:
            _judge_handle(process["moved"], found["worker_moved"], name)
            process, name = process["child"], f"a child of {name}"
    if found["worker_moved"]:
        raise Mistake("shared_handle", _SHARED.format(name="the parent", who="a DataLoader worker"))
    if found["left_open"]:
        raise Mistake(
            "left_open",
            f"After dataset.close() this process still has {found['left_open']} handle(s) on the zip. "
            "Close what "
            "you opened: on a shared machine the number of open files is limited.",
        )
    return "each process reads through a handle of its own, opens it once and closes it"


_SHARED = (
    "After {who} had read some samples, the position of {name}'s handle had moved: they use one open file. "
    "When "
    "both read at once, one gets bytes from where the other wanted to be. Remember which process opened a "
    "handle (os.getpid()), and open a new one in any other process. A lock does not help: then they wait "
    "in line."
)


def _judge_handle(moved: bool, worker_moved: bool, name: str) -> None:
    if moved and not worker_moved:
        raise Mistake(
            "keyed_by_worker",
            f"A DataLoader worker gets a handle of its own, but a plain child of {name} does not: they "
            "share one. "
            "worker_info is None in every process that is not a worker, so it cannot tell two of them apart "
            "(two training processes on one node, say). os.getpid() can.",
        )
    if moved:
        raise Mistake("shared_handle", _SHARED.format(name=name, who=f"a child of {name}"))


def _judge_process(process: Evidence, order: list[int], truth: Truth, name: str) -> None:
    for samples in process["samples"]:
        expect_samples(samples, order, truth, name)
    if process["opens"] > MOST_OPENS:
        raise Mistake(
            "opens_per_sample",
            f"For {2 * len(order)} samples {name} opened the zip {process['opens']} times. Each opening "
            "reads the "
            "zip's whole directory again: keep the handle and use it for all samples of this process.",
        )


def outside(truth: Truth, opened: dict[str, int]) -> None:
    """Counts once more what all processes opened together, where no code can reach the count."""
    processes = len(truth["orders"]) + 1  # and a DataLoader's worker
    if (opens := opened.get(PACK, 0)) > MOST_OPENS * processes:
        raise Mistake(
            "opens_unseen",
            f"Seen from outside of the program, {processes} processes opened the zip {opens} times: "
            "more than the check saw from within. Keep the handle and use it for all samples of a process.",
        )

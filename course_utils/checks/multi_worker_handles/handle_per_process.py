"""Check that every process reads through a file handle of its own.

The check does not wait for a race. Processes read one after another, and one that shares a handle moves the
other's file position every time.
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
    folder_with,
    ignore_warnings,
    pack_bytes,
    record_file_events,
    record_samples,
)
from course_utils.system import file_positions, fork_by_default, in_child

PROCESSES = ("the parent process", "a child process", "a grandchild process")
MAX_OPENS = 2  # once to read the names, once to keep
PACK = "pack.zip"

SHARED_HANDLE = (
    "After {reader} read some samples, the file position of the handle in {owner} had moved: both use the "
    "same open file. When both read at once, either may get bytes from the other's position. Remember which "
    "process opened a handle (os.getpid()), and open a new one in every other process. A lock does not help: "
    "processes would wait for each other."
)


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a pack and the order in which each of three generations of processes reads its samples."""
    members, labels = draw_members(rng, count=5)
    last = len(members) - 1
    # A generation that ends at the first member is followed by one that ends at the last.
    orders = [[last, 2, 1, 0], [0, 3, 1, last], [last, 1, 3, 0]]
    inputs = {"files": {PACK: pack_bytes(members, labels)}, "orders": orders}
    return inputs, {"members": members, "labels": labels, "orders": orders}


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Read samples in three generations of processes and in a DataLoader worker; record file positions."""
    orders = inputs["orders"]
    with folder_with(inputs["files"]) as folder, ignore_warnings(), fork_by_default():
        path = folder / PACK
        with record_file_events(folder) as events:
            dataset = dataset_class(path)
            found = {"length": len(dataset), "parent": _read_in_generations(dataset, path, orders)}
        found["parent"]["opens"] = _opens(events)
        found["worker_moved"] = _moves_position(path, lambda: _read_in_worker(dataset, orders[1]))
        dataset.close()
        found["left_open"] = len(file_positions(path))
        return found


def _read_in_generations(dataset: Any, path: Path, orders: list[list[int]]) -> Evidence:  # noqa: ANN401
    """Read in this process, then let a child do the same; record whether it moved a position of ours."""
    with record_file_events(path.parent) as events:
        found: Evidence = {"samples": [record_samples(dataset, orders[0]) for _ in range(2)]}
        found["opens"] = _opens(events)
    if len(orders) > 1:
        children: list[Evidence] = []
        found["moved"] = _moves_position(
            path, lambda: children.append(in_child(_read_in_generations, dataset, path, orders[1:]))
        )
        found["child"] = children[0]
    return found


def _moves_position(path: Path, action: Callable[[], object]) -> bool:
    before = file_positions(path)
    action()
    after = file_positions(path)
    return any(after.get(fd) != position for fd, position in before.items())


def _read_in_worker(dataset: Any, order: list[int]) -> None:  # noqa: ANN401 - the student's dataset
    for _ in DataLoader(_Picked(dataset, order), batch_size=None, num_workers=1):
        pass


class _Picked(Dataset[int]):
    def __init__(self, dataset: Any, order: list[int]) -> None:  # noqa: ANN401 - the student's dataset
        self.dataset, self.order = dataset, order

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: int) -> int:
        self.dataset[self.order[index]]
        return index


def _opens(events: list[list[str]]) -> int:
    return sum(kind == "open" for kind, _ in events)


def judge(truth: Truth, found: Evidence) -> str:
    """Check the samples, that no process moved another's file position, and how many handles were open."""
    if found["length"] != len(truth["members"]):
        raise Mistake(
            "wrong_length", f"len(dataset) is {found['length']}; the pack has {len(truth['members'])} images."
        )
    process = found["parent"]
    for name, order, child in zip(PROCESSES, truth["orders"], (*PROCESSES[1:], None), strict=True):
        _judge_process(process, order, truth, name)
        if child:
            _judge_handle(process["moved"], found["worker_moved"], owner=name, reader=child)
            process = process["child"]
    if found["worker_moved"]:
        raise Mistake("shared_handle", SHARED_HANDLE.format(owner=PROCESSES[0], reader="a DataLoader worker"))
    if found["left_open"]:
        raise Mistake(
            "left_open",
            f"After dataset.close() this process still has {found['left_open']} open handle(s) on the zip. "
            "Close what you opened: the number of open files per process is limited.",
        )
    return "Each process reads through its own handle, opens it once and closes it."


def _judge_handle(moved: bool, worker_moved: bool, owner: str, reader: str) -> None:
    if moved and not worker_moved:
        raise Mistake(
            "keyed_by_worker",
            f"A DataLoader worker gets its own handle, but {reader} shares the one of {owner}. "
            "worker_info is None in every process that is not a worker, so it cannot tell such "
            "processes apart (two training processes on one node, for example). os.getpid() can.",
        )
    if moved:
        raise Mistake("shared_handle", SHARED_HANDLE.format(owner=owner, reader=reader))


def _judge_process(process: Evidence, order: list[int], truth: Truth, name: str) -> None:
    for samples in process["samples"]:
        expect_samples(samples, order, truth, name)
    if process["opens"] > MAX_OPENS:
        raise Mistake(
            "opens_per_sample",
            f"To read {2 * len(order)} samples, {name} opened the zip {process['opens']} times. Each time it "
            "reads the zip's whole central directory again: keep the handle and use it for all samples of "
            "this process.",
        )


def outside(truth: Truth, opened: dict[str, int]) -> None:
    """Check how often all processes together opened the pack, as counted outside the sandbox."""
    processes = len(truth["orders"]) + 1  # and a DataLoader's worker
    if (opens := opened.get(PACK, 0)) > MAX_OPENS * processes:
        raise Mistake(
            "opens_unseen",
            f"Counted from outside the program, {processes} processes opened the zip {opens} times: more "
            "than the check saw from inside. Keep the handle and use it for all samples of a process.",
        )

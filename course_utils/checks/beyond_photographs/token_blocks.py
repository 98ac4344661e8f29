"""Check a dataset of blocks of tokens.

Whether a file is read before an item is asked for is judged by what no early reader can know: the check
writes other tokens over a later item once the first one has been returned. A file that is read whole for each
item is seen by the bytes that the process reads, and a memory map that is copied for each item by the memory
that this takes beyond an item of a small file, both on Linux. Two processes share a handle if reading in one
moves the position in the other.
"""

import operator
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from course_utils.checks import core
from course_utils.checks.beyond_photographs._token_files import (
    BIN,
    DrawnFile,
    draw_files,
    draw_large,
    files_of,
    write_large,
    write_tokens,
)
from course_utils.system import file_positions, in_child, io_counters, peak_growth

LARGE = "large"


class Item(TypedDict):
    """An item: the type of the whole, and its parts."""

    kind: str
    parts: list[core.ImageRecord]


class Large(TypedDict):
    """Items of a large file: the first, one whose tokens change after that, one that a child reads.

    `read` are the bytes that the process read meanwhile, and `grown` those of memory that an item took more
    than one of a small file; None if unknown. `moved` says whether the child moved the position of a handle.
    """

    items: list[Item]
    read: int | None
    grown: int | None
    moved: bool


class Found(TypedDict):
    """Lengths by dataset, the items as they were asked for, how many changed later, and the large file's."""

    lengths: list[int | str]
    items: list[core.AttemptOf[Item]]
    changed: int
    large: core.AttemptOf[Large]


def make(rng: np.random.Generator) -> tuple[core.Inputs, core.Truth]:
    """Draw four small files, the order in which their items are asked for in turn, and a large file."""
    files = draw_files(rng)
    most = max(file.items for file in files)
    turns = [
        (n, item) for item in rng.permutation(most).tolist() for n in rng.permutation(len(files)).tolist()
    ]
    asked = [(n, item) for n, item in turns if item < files[n].items]
    drawn = {"files": [file._asdict() for file in files], "asked": asked, LARGE: draw_large(rng)}
    return drawn, drawn


def probe(inputs: core.Inputs, dataset_class: Callable[..., Any]) -> Found:
    """Ask datasets of all files for their items in turn, then one of the large file."""
    files = [DrawnFile(**file) for file in inputs["files"]]
    with core.folder_with(files_of(files)) as folder, core.ignore_warnings():
        datasets = [dataset_class(folder / str(n), file.block) for n, file in enumerate(files)]
        lengths = [_plain(len(dataset)) for dataset in datasets]
        kept: list[Any] = []
        items: list[Any] = [
            core.attempt(partial(_ask, datasets[n], item, kept)) for n, item in inputs["asked"]
        ]
        first = [one["value"] for one in items if "value" in one]
        changed = sum(not _equal(_record(item), then) for item, then in zip(kept, first, strict=False))
        read_large = partial(_read_large, folder / LARGE, inputs[LARGE], dataset_class, datasets[0])
        large: Any = core.attempt(read_large)
    return {"lengths": lengths, "items": items, "changed": changed, "large": large}


def _plain(length: object) -> int | str:
    try:
        return operator.index(length)  # type: ignore[arg-type]  # whatever the student returns
    except TypeError:
        return core.type_name(length)


def _ask(dataset: Any, index: int, kept: list[Any]) -> Item:  # noqa: ANN401 - the student's dataset
    item = dataset[index]
    recorded = _record(item)
    kept.append(item)
    return recorded


def _record(item: object) -> Item:
    parts = [core.record_image(part) for part in item] if isinstance(item, tuple | list) else []
    for part in parts:
        part["array"] = None if part["array"] is None else part["array"].copy()  # it may change later
    return {"kind": core.type_name(item), "parts": parts}


def _equal(one: Item, other: Item) -> bool:
    pairs = zip(one["parts"], other["parts"], strict=True)
    arrays = [(a["array"], b["array"]) for a, b in pairs]
    return all(np.array_equal(a, b) for a, b in arrays if a is not None and b is not None)


def _read_large(
    folder: Path,
    large: dict[str, Any],
    dataset_class: Callable[..., Any],
    small: Any,  # noqa: ANN401 - the student's dataset
) -> Large:
    """Ask for the first item, change later ones, then ask for one of these here and for one in a child."""
    write_large(folder, large)
    before = io_counters()
    dataset = dataset_class(folder, large["block"])
    items = [_record(dataset[0])]
    for place, tokens in large["later"]:
        write_tokens(folder / BIN, place, tokens)
    len(dataset)
    here, in_worker = large["asked"]
    items.append(_record(dataset[here]))
    after = io_counters()
    positions = file_positions(folder / BIN)
    items.append(in_child(lambda: _record(dataset[in_worker])))
    found = file_positions(folder / BIN)
    moved = any(found.get(handle, position) != position for handle, position in positions.items())
    of_large = peak_growth(operator.getitem, dataset, in_worker)
    grown = of_large - peak_growth(operator.getitem, small, 0)  # which touches the same pages of libraries
    return {
        "items": items,
        "read": after["rchar"] - before["rchar"] if before and after else None,
        "grown": grown if before else None,
        "moved": moved,
    }


def judge(truth: core.Truth, evidence: core.Evidence) -> str:
    """Check lengths, then inputs, targets and positions, then what is read when, and by whom."""
    # Imported here, because the sandbox of the grader does not show it.
    from course_utils.checks.beyond_photographs import _block_rules as rules

    files = [DrawnFile(**file) for file in truth["files"]]
    asked = [rules.Asked(files[n], item) for n, item in truth["asked"]]
    rules.expect_no_item_missing(files, evidence["lengths"])
    items = [core.value_of(one) for one in evidence["items"]]
    rules.expect_three_tensors(asked, items)
    rules.expect_items(files, asked, [[part["array"] for part in item["parts"]] for item in items])
    rules.expect_lengths(files, evidence["lengths"])
    rules.expect_unchanged(evidence["changed"])
    rules.expect_large(truth[LARGE], core.value_of(evidence["large"]))
    return (
        "Every token is an input once, targets stop at the end of a document, positions restart, and nothing "
        "is read before it is asked for."
    )

"""Which blocks of tokens are right, and what is wrong with others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from course_utils.checks import core
from course_utils.checks.beyond_photographs._token_files import LARGE_COUNT, DrawnFile

mistake = core.Messages(__name__)

IGNORED = -100
PARTS = ("inputs", "targets", "positions")


class Asked(NamedTuple):
    """An item of a file by number."""

    file: DrawnFile
    item: int

    @property
    def start(self) -> int:
        """The place of its first token in the file."""
        return self.item * self.file.block

    @property
    def row(self) -> np.ndarray:
        """Its inputs and the token after the last one, int64."""
        return self.file.tokens[self.start : self.start + self.file.block + 1].astype(np.int64)

    def text(self, part: int, found: np.ndarray) -> str:
        """Describe it in words, with a part that an answer returned."""
        file, row = self.file, self.row.tolist()
        return (
            f"item {self.item} (block = {file.block}, end = {file.end}) covers the tokens {row}, the last of "
            f"which is a target only, and your {PARTS[part]} are {found.tolist()}"
        )


def block_of(row: np.ndarray, end: int) -> list[np.ndarray]:
    """Return inputs, targets and positions of tokens in a row."""
    inputs, following = row[:-1], row[1:]
    return [inputs, np.where(inputs == end, IGNORED, following), _since(inputs == end)]


def _since(restarts: np.ndarray, offset: int = 1) -> np.ndarray:
    """Count from 0 at the first place, and again from 0 `offset` places after each restart."""
    places = np.arange(len(restarts))
    starts = np.zeros(len(restarts), np.int64)
    later = np.flatnonzero(restarts) + offset
    later = later[later < len(restarts)]
    starts[later] = later
    return places - np.maximum.accumulate(starts)


def expect_no_item_missing(files: Sequence[DrawnFile], lengths: Sequence[int | str]) -> None:
    """Check that lengths are numbers, each dataset's its own, and none too small."""
    if others := [length for length in lengths if isinstance(length, str)]:
        raise mistake("wrong_length.kind", kind=others[0])
    of_one_file = ([one._replace(block=file.block).items for file in files] for one in files)
    if len({*lengths}) == 1 or any(list(lengths) == those for those in of_one_file):
        raise mistake("shared_between_datasets.length", lengths=lengths)
    for file, length in zip(files, map(int, lengths), strict=True):
        values = {"length": length, "count": len(file.tokens), "block": file.block, "items": file.items}
        is_short = length < file.items
        is_whole = length in ((len(file.tokens) - 1) // file.block, len(file.tokens) // file.block)
        mistake.raise_first(
            {"last_block_lost": is_short and is_whole, "wrong_length.number": is_short}, **values
        )


def expect_lengths(files: Sequence[DrawnFile], lengths: Sequence[int | str]) -> None:
    """Check that no length is too large; the items that there are were right."""
    for file, length in zip(files, map(int, lengths), strict=True):
        values = {"length": length, "count": len(file.tokens), "block": file.block, "items": file.items}
        empty = length == file.items + 1
        mistake.raise_first({"empty_block": empty, "wrong_length.number": length > file.items}, **values)


def expect_three_tensors(asked: Sequence[Asked], items: Sequence[Mapping[str, Any]]) -> None:
    """Check that each item is three tensors of dtype int64 with one dimension."""
    for one, item in zip(asked, items, strict=True):
        kinds = [part["kind"] for part in item["parts"]]
        if kinds != ["Tensor"] * 3:
            values = {"item": one.item, "kind": item["kind"], "kinds": kinds or "nothing"}
            raise mistake("not_three_tensors.kind", **values)
        arrays = [part["array"] for part in item["parts"]]
        dtypes = [str(array.dtype) for array in arrays]
        shapes = [array.shape for array in arrays]
        mistake.raise_first(
            {
                "not_int64": dtypes != ["int64"] * 3,
                "not_three_tensors.shape": any(len(shape) != 1 for shape in shapes),
                "other_lengths": len({*shapes}) != 1,
            },
            item=one.item,
            dtypes=dtypes,
            shapes=shapes,
        )


def expect_items(
    files: Sequence[DrawnFile], asked: Sequence[Asked], found: Sequence[Sequence[np.ndarray]]
) -> None:
    """Compare inputs, then targets, then positions; a rule that explains all items names the mistake."""
    right = [block_of(one.row, one.file.end) for one in asked]
    for part, rules in enumerate((_input_rules(files), _TARGET_RULES, _POSITION_RULES)):
        pairs = [(one, arrays[part]) for one, arrays in zip(asked, found, strict=True)]
        wrong = [
            (one, array)
            for (one, array), block in zip(pairs, right, strict=True)
            if not np.array_equal(array, block[part])
        ]
        if wrong:
            explained = {name: _explains(rule, wrong) for name, rule in rules.items()}
            mistake.raise_first(explained, example=wrong[0][0].text(part, wrong[0][1]))


Rule = Callable[[Asked, np.ndarray], bool]


def _explains(rule: Rule, wrong: Iterable[tuple[Asked, np.ndarray]]) -> bool:
    return all(rule(one, array) for one, array in wrong)


def _input_rules(files: Sequence[DrawnFile]) -> dict[str, Rule]:
    return {
        "shared_between_datasets.tokens": lambda one, found: any(
            np.array_equal(found, Asked(file, one.item).row[:-1]) for file in files
        ),
        "token_lost_between_blocks": lambda one, found: np.array_equal(
            found, one.file.tokens[one.start : one.start + one.file.block][:-1]
        ),
        "last_block_padded": lambda one, found: (
            len(found) == one.file.block and np.array_equal(found[: len(one.row) - 1], one.row[:-1])
        ),
        "last_token_is_input": lambda one, found: (
            np.array_equal(found[:-1], one.row[:-1]) and np.array_equal(found[-1:], one.row[-1:])
        ),
        "targets_written_over_inputs": lambda one, found: (
            found.shape == one.row[1:].shape and bool(np.all((found == one.row[:-1]) | (found == IGNORED)))
        ),
        "signed_tokens": lambda one, found: np.array_equal(
            found, _reread(one, f"i{one.file.tokens.itemsize}")
        ),
        "dtype_ignored": lambda one, found: any(
            np.array_equal(found, _reread(one, dtype)) for dtype in ("<u2", "<i2", "<u4", "<i4", ">u2", ">u4")
        ),
        "tokens_overflow": lambda one, found: any(
            np.array_equal(found, one.row[:-1].astype(dtype)) for dtype in (np.uint16, np.int16)
        ),
        "shifted_inputs": lambda one, found: any(
            np.array_equal(found, one.file.tokens[start : start + len(found)])
            for start in (one.start + 1, one.start + one.item)
        ),
        "other_inputs": lambda one, found: True,
    }


def _reread(one: Asked, dtype: str) -> np.ndarray:
    """Return the item as a reader would see it that takes the file for one of another dtype."""
    data, size = one.file.tokens.tobytes(), np.dtype(dtype).itemsize
    tokens = np.frombuffer(data[: len(data) // size * size], dtype)
    return tokens[one.start : one.start + one.file.block + 1][:-1].astype(np.int64)


def _targets(ignored: Callable[[np.ndarray, int], np.ndarray]) -> Rule:
    """Return the rule that some of the following tokens are ignored."""

    def rule(one: Asked, found: np.ndarray) -> bool:
        return np.array_equal(found, np.where(ignored(one.row, one.file.end), IGNORED, one.row[1:]))

    return rule


_TARGET_RULES: dict[str, Rule] = {
    "boundary_unmarked": _targets(lambda row, end: np.zeros(len(row) - 1, bool)),
    "end_never_a_target.only": _targets(lambda row, end: row[1:] == end),
    "end_never_a_target.both": _targets(lambda row, end: (row[1:] == end) | (row[:-1] == end)),
    "targets_not_shifted": lambda one, found: bool(np.all((found == one.row[:-1]) | (found == IGNORED))),
    "last_target_lost": lambda one, found: np.array_equal(
        found[:-1], block_of(one.row, one.file.end)[1][:-1]
    ),
    "other_targets": lambda one, found: True,
}
_POSITION_RULES: dict[str, Rule] = {
    "positions_not_restarted": lambda one, found: np.array_equal(found, np.arange(len(found))),
    "positions_of_the_document": lambda one, found: np.array_equal(
        found, _since(one.file.tokens == one.file.end)[one.start : one.start + len(found)]
    ),
    "positions_of_the_file": lambda one, found: np.array_equal(found, one.start + np.arange(len(found))),
    "restarts_at_the_end": lambda one, found: np.array_equal(
        found, _since(one.row[:-1] == one.file.end, offset=0)
    ),
    "other_positions": lambda one, found: True,
}


def expect_unchanged(changed: int) -> None:
    """Check that no item has changed after it was returned."""
    if changed:
        raise mistake("item_overwritten", changed=changed)


def expect_large(large: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Check the items of the large file, when they were read, how much was read, and through whose handle."""
    pieces, after = (
        {place: row for place, row in large["first"]},
        {place: row for place, row in large["later"]},
    )
    items = [0, *large["asked"]]
    read, grown = found["read"] or 0, found["grown"] or 0
    values = {"count": LARGE_COUNT, "read": read // 1_000_000, "grown": grown // 1_000_000}
    for item, record in zip(items, found["items"], strict=True):
        start = item * large["block"]
        place = max(start - 30, 0)
        stale, fresh = (
            block_of(row[start - place :][: large["block"] + 1].astype(np.int64), large["end"])
            for row in (pieces[place], after.get(place, pieces[place]))
        )
        arrays = [part["array"] for part in record["parts"]]
        wrong = [not np.array_equal(*pair) for pair in zip(arrays, fresh, strict=True)]
        is_stale = any(was and np.array_equal(*pair) for was, *pair in zip(wrong, arrays, stale, strict=True))
        mistake.raise_first({"reads_everything.early": is_stale, "far_item": any(wrong)}, item=item, **values)
    mistake.raise_first(
        {
            "reads_everything.bytes": read > LARGE_COUNT,
            "reads_everything.memory": grown > LARGE_COUNT,
            "shared_handle": found["moved"],
        },
        **values,
    )

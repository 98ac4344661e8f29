"""How many places of a batch of token numbers are computed, and how many hold a token that is no padding."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import torch

SHORTEST = 16  # places of a row: shorter rows of integers are tables or boxes
IGNORED = -100  # the label that PyTorch's loss leaves out
INTEGERS = (torch.int64, torch.int32)


class Tokens(NamedTuple):
    """Places of a batch of tokens; both 0 where it holds none.

    Attributes:
        places: Rows times their common length, padding included.
        useful: Places that are not padding.
    """

    places: int
    useful: int


NONE = Tokens(0, 0)


def count_tokens(batch: object, parts: Iterable[object]) -> Tokens:
    """Count the places of tokens in a batch, by its names if it has some, else by the ends of its rows.

    Args:
        batch: What a collate function returned. In a mapping, `attention_mask` says which of the
            `input_ids` are tokens, or `labels` of -100 at the ends of rows.
        parts: The tensors and other objects in it. Without names, those of dtype int64 or int32 and of the
            shape (rows, places) are tokens, and what fills the ends of rows with one number is padding.
    """
    if isinstance(batch, Mapping) and _is_tokens(batch.get("input_ids")):
        return _named(batch)
    matrices = [part for part in parts if _is_tokens(part)]
    if not matrices:
        return NONE
    largest = max(matrices, key=torch.Tensor.numel)
    alike = [_padding(part) for part in matrices if part.shape == largest.shape]
    return Tokens(largest.numel(), largest.numel() - max(alike))


def _named(batch: Mapping[Any, Any]) -> Tokens:
    tokens, mask, labels = (batch.get(name) for name in ("input_ids", "attention_mask", "labels"))
    assert isinstance(tokens, torch.Tensor)
    if isinstance(mask, torch.Tensor) and mask.shape == tokens.shape and mask.device.type == "cpu":
        return Tokens(tokens.numel(), int(torch.count_nonzero(mask)))
    padding = _padding(tokens)
    if _is_tokens(labels) and labels.shape == tokens.shape:
        padding = max(padding, _padding(labels, IGNORED))
    return Tokens(tokens.numel(), tokens.numel() - padding)


def _is_tokens(part: Any) -> TypeGuard[torch.Tensor]:
    return (
        isinstance(part, torch.Tensor)
        and part.dtype in INTEGERS
        and part.dim() == 2
        and part.shape[0] > 0
        and part.shape[1] >= SHORTEST
        and part.device.type == "cpu"
    )


def _padding(matrix: torch.Tensor, filled_with: int | None = None) -> int:
    """Places at the ends of rows that hold one number again and again, in all rows the same one."""
    rows = matrix.detach().numpy()
    differs = rows[:, ::-1] != rows[:, -1:]
    runs = np.where(differs.any(axis=1), differs.argmax(axis=1), rows.shape[1])
    filled, repeated = rows[:, -1], runs > 1
    if not repeated.any() or runs.min() == rows.shape[1]:  # all rows of one number: no tokens
        return 0
    ends = set(filled[repeated].tolist())
    if len(ends) > 1 or (filled_with is not None and ends != {filled_with}):
        return 0
    return int(runs[repeated].sum())

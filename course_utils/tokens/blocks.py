"""Blocks of the same number of tokens, across the ends of documents."""

import math

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from course_utils.tokens.token_file import TokenFile

IGNORED = -100  # the target that PyTorch's losses leave out


class TokenBlocks(Dataset[tuple[Tensor, Tensor, Tensor]]):
    """Blocks of a file of tokens, each with the targets of a language model and positions in documents.

    An item is three tensors of dtype int64 and length `block`, the last one's shorter: tokens; the token
    after each of them, or -100 where that one belongs to another document; and positions, which count from 0
    at the start of each document and of the block. Each token but the file's last is in one block.

    Args:
        file: The tokens; an item's are read when it is asked for.
        block: Tokens an item.
    """

    def __init__(self, file: TokenFile, block: int) -> None:
        self.file, self.block = file, block

    def __len__(self) -> int:
        return math.ceil((len(self.file.tokens) - 1) / self.block)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        if not 0 <= index < len(self):
            raise IndexError(f"block {index} of {len(self)}")
        first = index * self.block
        row = self.file.tokens[first : first + self.block + 1].astype(np.int64)
        places = np.arange(first, first + len(row) - 1)
        documents = np.searchsorted(self.file.starts, places, side="right") - 1
        is_last = self.file.starts[documents + 1] == places + 1
        positions = places - np.maximum(self.file.starts[documents], first)
        targets = np.where(is_last, IGNORED, row[1:])
        return torch.from_numpy(row[:-1].copy()), torch.from_numpy(targets), torch.from_numpy(positions)

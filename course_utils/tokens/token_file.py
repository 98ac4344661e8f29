"""Tokens of many documents in one file, opened as a memory map."""

import json
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from course_utils.paths import TOKENS, DataNotFoundError, data_dir

BIN, STARTS, ABOUT = "tokens.bin", "starts.npy", "tokens.json"
DTYPES = {"uint16": "<u2", "uint32": "<u4"}


def token_set() -> Path:
    """Return the folder of the set that `python -m data_setup tokens` makes, beside the photographs.

    Raises:
        DataNotFoundError: There is none.
    """
    folder = data_dir() / TOKENS
    if not (folder / ABOUT).exists():
        raise DataNotFoundError(
            f"There are no tokens in {folder}. `python -m data_setup tokens --out {folder}` makes them in a "
            "minute, and so does `make data` in the course's folder; on a cluster, ask your teacher for it."
        )
    return folder


class TokenFile:
    """A file of tokens, of which only what is used is read.

    A copy in another process opens the file again.

    Args:
        folder: Holds `tokens.bin`, `starts.npy` and `tokens.json`.

    Attributes:
        tokens: All tokens in a row, uint16 or uint32, as a memory map.
        starts: Where each document starts in `tokens`, int64; one more entry says where the last one ends.
        end: The token that ends each document.
        vocabulary: The number of different tokens that there can be.
        sources: By name of a source, its first document and its number of documents, which lie in a row.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: The files do not belong together.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        about = json.loads((self.folder / ABOUT).read_text())
        self.end, self.vocabulary = int(about["end"]), int(about["vocabulary"])
        self.sources = {name: (int(first), int(number)) for name, (first, number) in about["sources"].items()}
        self.tokens = np.memmap(self.folder / BIN, DTYPES[about["dtype"]], mode="r")
        self.starts: NDArray[np.int64] = np.load(self.folder / STARTS, mmap_mode="r")
        if not len(self.tokens) == about["count"] == self.starts[-1]:
            raise ValueError(
                f"{self.folder}: {BIN} has {len(self.tokens):,} tokens, {ABOUT} says {about['count']:,}, "
                f"and {STARTS} {self.starts[-1]:,}. `python -m data_setup verify` finds the damaged file."
            )

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __reduce__(self) -> tuple[type["TokenFile"], tuple[Path]]:
        return TokenFile, (self.folder,)  # a pickled memory map would be a copy of the whole file

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each document, with the one that ends it, int64."""
        return np.diff(self.starts)

    def document(self, number: int) -> NDArray[np.unsignedinteger]:
        """Return the tokens of a document, with the one that ends it: a view of the file.

        Raises:
            IndexError: There is no such document.
        """
        if not 0 <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")
        return self.tokens[self.starts[number] : self.starts[number + 1]]

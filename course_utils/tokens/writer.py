"""Write a file of tokens."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from course_utils.tokens.token_file import ABOUT, BIN, DTYPES, STARTS


def write_tokens(
    folder: Path, sources: Mapping[str, Iterable[Sequence[int]]], end: int, vocabulary: int
) -> None:
    """Write documents as a `TokenFile` reads them.

    Args:
        folder: An existing folder.
        sources: The documents by name of their source, each as its tokens without the one that ends it.
        end: The token that ends each document, and is in none.
        vocabulary: The number of different tokens that there can be; it decides the dtype.

    Raises:
        ValueError: A document holds `end`, or a token that is too large.
    """
    dtype = "uint16" if vocabulary <= 2**16 else "uint32"
    starts, ranges = [0], dict[str, tuple[int, int]]()
    with (folder / BIN).open("wb") as file:
        for name, documents in sources.items():
            first = len(starts) - 1
            for document in documents:
                if end in document or max(document, default=0) >= vocabulary:
                    raise ValueError(
                        f"{name}: a document holds the token {end}, or one above {vocabulary - 1}"
                    )
                file.write(np.array([*document, end], DTYPES[dtype]).tobytes())
                starts.append(starts[-1] + len(document) + 1)
            ranges[name] = first, len(starts) - 1 - first
    np.save(folder / STARTS, np.array(starts, np.int64))
    about = {"dtype": dtype, "count": starts[-1], "end": end, "vocabulary": vocabulary, "sources": ranges}
    (folder / ABOUT).write_text(json.dumps(about) + "\n")

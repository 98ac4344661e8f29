"""Files of tokens that a check draws: small ones, of which all is known, and a large one with holes."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from course_utils.checks.core import environment

BIN, ABOUT = "tokens.bin", "tokens.json"
LIMITS = {"uint16": 2**16, "uint32": 200_000}  # above what the other dtype, or a signed one, can hold
LARGE_COUNT = (
    12_000_000  # tokens of two bytes; nearly all of them are a hole in the file, which takes no space
)


class DrawnFile(NamedTuple):
    """A file of tokens, and the block that it is asked for by.

    Args:
        dtype: "uint16" or "uint32".
        tokens: Its tokens.
        end: The token that ends each document.
        block: Tokens an item.
    """

    dtype: str
    tokens: np.ndarray
    end: int
    block: int

    @property
    def items(self) -> int:
        """The number of items: each token but the last is an input once."""
        return math.ceil((len(self.tokens) - 1) / self.block)

    def about(self) -> bytes:
        """Return the content of `tokens.json`."""
        return about_of(self.dtype, len(self.tokens), self.end)


def about_of(dtype: str, count: int, end: int) -> bytes:
    """Return the content of `tokens.json`."""
    about = {"dtype": dtype, "count": count, "end": end, "vocabulary": LIMITS[dtype]}
    return environment.json.dumps(about).encode()


def draw_files(rng: np.random.Generator) -> list[DrawnFile]:
    """Draw files whose last item is shorter, whole, a single token, and the only one."""
    blocks = rng.choice(np.arange(6, 12), 4, replace=False).tolist()
    counts = [
        6 * blocks[0] + int(rng.integers(2, blocks[0])),
        5 * blocks[1],
        6 * blocks[2] + 1,
        int(rng.integers(3, blocks[3] - 1)),
    ]
    dtypes = ("uint16", "uint32", "uint16", "uint32")
    ends = [0, 70_000 + int(rng.integers(1000)), int(rng.integers(1, 5000)), int(rng.integers(1, 5000))]
    return [
        DrawnFile(dtype, _draw_tokens(rng, dtype, inputs + 1, end, block), end, block)
        for dtype, inputs, end, block in zip(dtypes, counts, ends, blocks, strict=True)
    ]


def _draw_tokens(rng: np.random.Generator, dtype: str, count: int, end: int, block: int) -> np.ndarray:
    """Draw documents that end at the last and at the first place of a block, and twice within one."""
    tokens = draw_ordinary(rng, dtype, count, end)
    # By block: at its first place; nowhere; at its last place; twice, one document empty; three times.
    places = [0, 3 * block - 1, 3 * block + 2, 3 * block + 3, 4 * block + 1, 4 * block + 3, 5 * block - 2]
    places = [place for place in places if place < count] if count > block else [1]
    tokens[[*places, count - 1]] = end
    return tokens


def draw_ordinary(rng: np.random.Generator, dtype: str, count: int, end: int) -> np.ndarray:
    """Draw tokens, none of which is the end, from the upper half of what the dtype is used for."""
    tokens = rng.integers(LIMITS[dtype] // 2, LIMITS[dtype] - 1, count)
    return (tokens + (tokens >= end) if end >= LIMITS[dtype] // 2 else tokens).astype(dtype)


def files_of(files: list[DrawnFile]) -> dict[str, bytes]:
    """Return the content of a folder for each file, by name."""
    found = {
        f"{n}/{BIN}": file.tokens.astype(f"<{file.tokens.dtype.str[1:]}").tobytes()
        for n, file in enumerate(files)
    }
    return found | {f"{n}/{ABOUT}": file.about() for n, file in enumerate(files)}


def draw_large(rng: np.random.Generator) -> dict[str, Any]:
    """Draw what stands in a large file at first, and what is written over later items.

    Returns:
        `block`, `end`; `asked`, the items that change; `first` and `later`, tokens by place in the file.
    """
    # A mask of block by block is small, and the items lie where much of the file is before them.
    block, end = int(rng.integers(100, 160)), int(rng.integers(1, 5000))
    asked = [int(rng.uniform(*share) * LARGE_COUNT / block) for share in ((0.6, 0.7), (0.8, 0.9))]

    def piece(place: int) -> list[Any]:
        """Tokens around an item: a document ends before it, and more within it."""
        tokens = draw_ordinary(rng, "uint16", block + 41, end)
        tokens[[20, *(30 + rng.choice(np.arange(20, block), 4, replace=False))]] = end
        return [max(place * block - 30, 0), tokens]

    first = [piece(0), *map(piece, asked), [LARGE_COUNT - 1, np.array([end], "uint16")]]
    return {"block": block, "end": end, "asked": asked, "first": first, "later": [*map(piece, asked)]}


def write_large(folder: Path, large: dict[str, Any]) -> None:
    """Write the large file as it is at first."""
    folder.mkdir()
    (folder / ABOUT).write_bytes(about_of("uint16", LARGE_COUNT, large["end"]))
    (folder / BIN).touch()
    for place, tokens in large["first"]:
        write_tokens(folder / BIN, place, tokens)


def write_tokens(path: Path, place: int, tokens: np.ndarray) -> None:
    """Write tokens of two bytes over those at a place of a file."""
    with path.open("r+b") as file:
        file.seek(2 * place)
        file.write(tokens.astype("<u2").tobytes())

"""The docstrings in files of Python source, which are read, not imported."""

import ast
import multiprocessing
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

SHORTEST = 20  # characters
CHUNK = 16  # files that a worker gets at once
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def docstrings_of(files: Sequence[Path], workers: int) -> list[list[str]]:
    """Return the docstrings of each file; what has fewer than 20 characters is left out.

    Args:
        files: Files of Python source; one that this Python cannot parse has no docstrings.
        workers: Number of processes.
    """
    if workers == 1:
        return [docstrings_in(file) for file in files]
    with ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn")
    ) as pool:  # a fork may have threads
        return list(pool.map(docstrings_in, files, chunksize=CHUNK))


def docstrings_in(file: Path) -> list[str]:
    """Return the docstrings of a file, of the module first, then in the order of the source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of doubtful escapes in other people's code
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError):
            return []
    return [text for text in _texts(tree) if len(text) >= SHORTEST]


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the docstrings of a statement and of those within it; expressions hold none."""
    if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)):
        yield text
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for inner in getattr(node, name, ()):
            yield from _texts(inner)

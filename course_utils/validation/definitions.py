"""What a cell imports, defines and uses, found without running it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from functools import lru_cache

# A cell magic that takes the whole cell, as %%writefile does, or one line.
_MAGIC = re.compile(r"\A%%(?!time|capture)(?s:.*)|^[ \t]*[%!?].*$", re.MULTILINE)
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While)


def extract_definitions(source: str, after: int = 0) -> str:
    """Return the imports, functions, classes and literal constants that a cell defines, without the rest.

    An answer may use what a demonstration cell above it has imported or defined. Grading runs these
    statements and leaves the demonstration itself out.

    Args:
        source: Code of a cell.
        after: Only the statements that begin below this line, counted from 1.

    Returns:
        Its statements as they are written there; empty without any, or where the code is not Python.
    """
    statements, lines = _parse(source)
    return "\n".join(
        _text(one, lines) for one in statements if _first_line(one) > after and _is_definition(one)
    )


def defined_names(source: str) -> set[str]:
    """Return the names that a cell defines at its top level; empty where it is not Python."""
    return {name for statement in _statements(_parse(source)[0]) for name in _names(statement)}


@lru_cache(maxsize=10_000)
def meaning(source: str) -> str:
    """Return what tells two cells apart that do different things.

    It is the same after a formatter, another editor's line ends or a comment has changed the text.
    """
    try:
        return ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "\n".join(line.rstrip() for line in source.split("\n")).strip()


def free_names(source: str) -> set[str]:
    """Return the names that code reads and nowhere binds, without those of builtins."""
    statements = _parse(source)[0]
    nodes = [node for statement in statements for node in ast.walk(statement)]
    read = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    bound |= {name for node in nodes if isinstance(node, ast.stmt) for name in _names(node)}
    return read - bound - set(dir(builtins))


def _parse(source: str) -> tuple[list[ast.stmt], list[str]]:
    """Return the statements and lines of a cell, without magics if it has some."""
    for plain in (source, _MAGIC.sub("", source)):
        try:
            return ast.parse(plain).body, plain.split("\n")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return [], []


def _is_definition(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Name) for target in statement.targets) and _is_literal(
            statement.value
        )
    return isinstance(
        statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    )


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _text(statement: ast.stmt, lines: list[str]) -> str:
    return "\n".join(lines[_first_line(statement) - 1 : statement.end_lineno])


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Walk through a cell's statements and the blocks among them, but not into functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, _BLOCKS):
            for field in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, field, []))


def _names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))

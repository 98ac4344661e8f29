"""Find the files of the course that a package consists of and imports, directly and through other modules."""

import ast
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from course_utils.checks.core import MESSAGE_FILE

Imports = list[tuple[str, str]]  # modules, each with a name in it or an empty text


def imported_files(package: str) -> list[Path]:
    """Return the files of a package's modules, or of a module, and of all that they import from the course.

    A name that a room exports by its `.pyi` leads to the module that defines it, not to the whole room. The
    messages of checks belong to them.

    Args:
        package: Its name, such as ``course_utils.checks.jpeg_vs_zip``.

    Raises:
        ModuleNotFoundError: There is none.
    """
    followed = {"course_utils", package.partition(".")[0]}
    waiting = list(_all_files(package))
    found = set[Path]()
    while waiting:
        path, inside = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for base, name in _imports(path, path.stat().st_mtime_ns, inside):
            if base.partition(".")[0] in followed:
                waiting += _files(base, name)
    messages = {path.parent / MESSAGE_FILE for path in found}
    return sorted(found | set(filter(Path.is_file, messages)))


def _all_files(name: str) -> Iterator[tuple[Path, str]]:
    """Yield each file of a package, or that of a module, with the name of the package that it is in."""
    place = _place(name)
    if not place.is_dir():
        yield place.with_suffix(".py"), name.rpartition(".")[0]
    for path in place.rglob("*.py"):
        yield path, ".".join([name, *path.relative_to(place).parent.parts])


@cache
def _imports(path: Path, modified: int, package: str) -> Imports:
    """Return what a file in a package imports; the time of its last change is part of the key."""
    found: Imports = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            found += [(base, alias.name) for alias in node.names]
    return found


def _files(base: str, name: str) -> Iterator[tuple[Path, str]]:
    """Yield the file of a module, or of the module that a name in a package comes from, with its package."""
    place = _place(base)
    if not place.is_dir():
        yield place.with_suffix(".py"), base.rpartition(".")[0]
        return
    if not name:
        yield from _all_files(base)
    yield place / "__init__.py", base
    stub = place / "__init__.pyi"
    if name and ((place / name).is_dir() or (place / f"{name}.py").is_file()):
        yield from _files(f"{base}.{name}", "")
    elif name and stub.is_file():
        for module, exported in _imports(stub, stub.stat().st_mtime_ns, base):
            if exported == name:
                yield from _files(module, name)


def _place(name: str) -> Path:
    """Return the folder of a package, or that of a module's file without its ending, without importing it."""
    top, *parts = name.split(".")
    spec = find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"there is no package {top!r}")
    return Path(spec.submodule_search_locations[0]).joinpath(*parts)

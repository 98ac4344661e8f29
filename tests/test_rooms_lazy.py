"""Importing a room loads nothing heavy, and every name that it offers can be imported."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lessons.lesson import COURSE

HEAVY = ("torch", "numpy", "matplotlib")
ROOMS = sorted(
    ".".join(init.parent.relative_to(COURSE).parts)
    for package in ("course_utils", "data_setup")
    for init in (COURSE / package).rglob("__init__.py")
    # The packages of the lessons' checks load their checks, so that a lesson needs one import.
    if "checks" not in init.parent.parent.relative_to(COURSE).parts or init.parent.name == "core"
)

# First all rooms, then their names: a room that loads something heavy is the one where it appears.
IMPORT_ALL = """
import importlib, json, sys
heavy, *rooms = json.loads(sys.argv[1])
loaded, failed = {}, {}
for room in rooms:
    before = set(sys.modules)
    importlib.import_module(room)
    loaded[room] = sorted(({*sys.modules} - before) & {*heavy})
for room in rooms:
    module, failed[room] = sys.modules[room], {}
    for name in module.__all__ if hasattr(module, "__getattr__") else ():
        try:
            getattr(module, name)
        except Exception as error:
            failed[room][name] = repr(error)
print(json.dumps([loaded, failed]))
"""


@pytest.fixture(scope="module")
def imported():
    """Heavy packages that each room loads, and names that it cannot provide, in a fresh interpreter."""
    command = [sys.executable, "-c", IMPORT_ALL, json.dumps([HEAVY, *ROOMS])]
    done = subprocess.run(command, cwd=COURSE, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    loaded, failed = json.loads(done.stdout.splitlines()[-1])
    return loaded, failed


@pytest.mark.parametrize("room", ROOMS)
def test_importing_a_room_loads_nothing_heavy(imported, room):
    loaded, _ = imported
    assert loaded[room] == []


@pytest.mark.parametrize("room", ROOMS)
def test_all_names_of_a_room_can_be_imported(imported, room):
    _, failed = imported
    assert failed[room] == {}


@pytest.mark.parametrize("room", ROOMS)
def test_no_public_name_equals_a_module_of_its_room(room):
    """`from room import name` would return the function or the module, whichever was loaded last."""
    folder = COURSE.joinpath(*room.split("."))
    modules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/*.py")
    }
    assert not modules & names_from_modules(folder / "__init__.pyi")


def names_from_modules(stub: Path) -> set[str]:
    """Return the names that a stub takes from modules; a module that is itself offered is not ambiguous."""
    if not stub.exists():
        return set()
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return {name.name for node in imports if node.module for name in node.names}


def test_paths_loads_nothing_heavy():
    script = f"import sys, course_utils.paths; sys.exit(len({{*sys.modules}} & {{*{HEAVY!r}}}))"
    assert subprocess.run([sys.executable, "-c", script], cwd=COURSE).returncode == 0

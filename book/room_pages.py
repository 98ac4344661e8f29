"""Pages about the rooms of `course_utils` and `grading`, from their docstrings."""

import ast
import re
from pathlib import Path

# Lessons import the first ones; what checks and grades them is for teachers.
FOR_TEACHERS = ("course_utils.checks", "grading")
_OFFERED = re.compile(r" import \w+ as (\w+)$", re.MULTILINE)


def room_names(course: Path, for_teachers: bool = False) -> list[str]:
    """Return the packages that list what others may import, and the modules of `course_utils`, sorted.

    Args:
        course: The folder of the course.
        for_teachers: The rooms that check and grade, instead of those that lessons import.
    """
    package = course / "course_utils"
    places = [stub.parent for top in (package, course / "grading") for stub in top.rglob("__init__.pyi")]
    places += [path.with_suffix("") for path in package.glob("[!_]*.py")]
    names = sorted(".".join(place.relative_to(course).parts) for place in places)
    return [name for name in names if name.startswith(FOR_TEACHERS) == for_teachers]


def offered(course: Path, room: str) -> list[str]:
    """Return what a room lists for others."""
    stub = course.joinpath(*room.split("."), "__init__.pyi")
    return _OFFERED.findall(stub.read_text()) if stub.is_file() else []


def summary(course: Path, room: str) -> str:
    """Return the first line of a room's docstring."""
    module = course.joinpath(*room.split("."))
    source = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    return (ast.get_docstring(ast.parse(source.read_text())) or "").partition("\n")[0]


def room_page(course: Path, name: str, indexed: bool = True) -> str:
    """Return the page of a room in Markdown: what it offers, with signatures and docstrings.

    Args:
        course: The folder of the course.
        name: The room, such as `course_utils.data`.
        indexed: Whether links lead to what it describes; of rooms that offer the same, only one can be.
    """
    imported = "\n   :imported-members:" if offered(course, name) else ""
    index = "" if indexed else "\n   :no-index:"
    return f"""# `{name.removeprefix("course_utils.")}`

```{{eval-rst}}
.. automodule:: {name}
   :members:{imported}{index}
```
"""

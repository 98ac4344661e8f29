"""Pages about the rooms of `course_utils`, from their docstrings."""

from pathlib import Path

# Lessons import the first ones; what checks and grades them is for teachers.
FOR_TEACHERS = ("course_utils.checks", "course_utils.grading")


def room_names(course: Path, for_teachers: bool = False) -> list[str]:
    """Return the packages of `course_utils` that list what others may import, sorted.

    Args:
        course: The folder of the course.
        for_teachers: The rooms that check and grade, instead of those that lessons import.
    """
    stubs = (course / "course_utils").rglob("__init__.pyi")
    names = sorted(".".join(stub.parent.relative_to(course).parts) for stub in stubs)
    return [name for name in names if name.startswith(FOR_TEACHERS) == for_teachers]


def room_page(name: str, indexed: bool = True) -> str:
    """Return the page of a room in Markdown: what it offers, with signatures and docstrings.

    Args:
        name: The room, such as `course_utils.data`.
        indexed: Whether links lead to what it describes; of rooms that offer the same, only one can be.
    """
    index = "" if indexed else "\n   :no-index:"
    return f"""# `{name.removeprefix("course_utils.")}`

```{{eval-rst}}
.. automodule:: {name}
   :members:
   :imported-members:
   :show-inheritance:{index}
```
"""

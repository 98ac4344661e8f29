"""The lock file of the students' repository: the course's, without what only teachers need."""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NOT_FOR_STUDENTS = ("test", "book", "grading")  # extras


def student_lock(lock: str, project: dict[str, object]) -> str:
    """Return a lock file without the packages that only extras for teachers and contributors bring.

    Args:
        lock: The lock file of the course.
        project: The section `project` of its `pyproject.toml`.
    """
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    dependencies = project["dependencies"]
    assert isinstance(dependencies, list)
    kept = _closure([*dependencies, *extras["formats"], *extras["tokens"]])
    dropped = _closure(one for extra in NOT_FOR_STUDENTS for one in extras.get(extra, [])) - kept
    lines = [line for line in lock.splitlines() if canonicalize_name(Requirement(line).name) not in dropped]
    return "".join(f"{line}\n" for line in lines)


def _closure(requirements: Iterable[str]) -> set[str]:
    """Return the names of requirements and of all that they need, as this environment has them installed."""
    found: set[str] = set()
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in found:
            continue
        found.add(name)
        try:
            needed = map(Requirement, distribution(name).requires or [])
        except PackageNotFoundError:
            continue
        for one in needed:
            extras = wanted.extras or {""}
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(one)
    return found

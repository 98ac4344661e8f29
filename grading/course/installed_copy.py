"""Refuse to grade with two versions of the course: one that judges, one that submissions import."""

import filecmp
import subprocess
import sys
from pathlib import Path

import course_utils

COMMAND = "import course_utils; print(course_utils.__path__[0])"


class MixedVersionsError(RuntimeError):
    """The environment holds another version of the course than this folder; the message says what to do."""


def require_same_version() -> None:
    """Compare the course that judges with the copy in the environment, which submissions import.

    In a clone that `make` has installed they are the same folder.

    Raises:
        MixedVersionsError: Some of their files differ.
    """
    here = Path(course_utils.__path__[0]).resolve()
    installed = installed_course(Path(sys.executable))
    if installed == here:
        return
    if installed is None:
        raise MixedVersionsError(f"{sys.executable} cannot import the course: install it there")
    if different := differing_files(here, installed):
        raise MixedVersionsError(
            f"Nothing is graded: {here.parent} and the environment ({installed}) hold different versions of "
            f"the course; {different[0]} is one of {len(different)} files that differ. Submissions would "
            "meet one half of a check and the judge the other. On a shared site, this brings both to the "
            "version that is checked out here: "
            f"python -m grading.site TEACHER_DIR --source {here.parent}"
        )


def installed_course(python: Path) -> Path | None:
    """Return the package that an environment's Python imports as the course; None where it imports none.

    Raises:
        OSError: The Python cannot be run.
    """
    done = subprocess.run([python, "-I", "-c", COMMAND], check=False, capture_output=True, text=True)
    return Path(done.stdout.strip()).resolve() if done.returncode == 0 else None


def differing_files(one: Path, other: Path) -> list[str]:
    """Return the names of the modules that two copies of a package do not share byte for byte, sorted."""
    names = {str(path.relative_to(root)) for root in (one, other) for path in root.rglob("*.py*")}
    shared = sorted(name for name in names if "__pycache__" not in name)
    _, different, missing = filecmp.cmpfiles(one, other, shared, shallow=False)
    return sorted([*different, *missing])

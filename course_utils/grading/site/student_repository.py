"""Generate the repository that students clone: `make students`.

It holds what the lessons need and nothing else: no solutions, no answers, no grading, no tests, and a lock
file without the packages that only these need. A second call with the same folder commits what has changed
since, so that students can update by `make update`.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from course_utils.grading.site.templates import LAPTOP_EXTENSIONS_OFF, page_config, student_settings
from course_utils.start_page import INDEX, write_index

MARK = ".feeding-the-gpu-students"  # holds the version; only a repository with this file is written to
LOCK = "requirements.txt"
PAGE_CONFIG = ".make/page_config.json"  # .make/venv.sh copies it into the environment
README = Path(__file__).with_name("student_readme.md")
SHARED = (
    ".make",
    "CITATION.cff",
    "LICENSE",
    "LICENSE-text",
    "course_utils",
    "data_setup",
    "environment.yml",
    "notebooks",
)
NOT_SHARED = "course_utils/grading"
NOT_FOR_STUDENTS = ("test", "book")  # extras
TARGETS = ("help", "lab", "options", "serve", "data", "update", "clean")
SECTIONS = ("build-system", "project", "tool.setuptools.packages.find", "tool.setuptools.package-data")


class StudentRepositoryError(RuntimeError):
    """The repository cannot be written; the message says what to do."""


def write_student_repository(source: Path, target: Path) -> str:
    """Write the students' files of a checkout into a git repository and commit them.

    Args:
        source: A clone of the course, without uncommitted changes.
        target: A folder that does not exist or is empty, or a repository that this function wrote.

    Returns:
        One sentence that says what was committed.

    Raises:
        StudentRepositoryError: The clone has changes, or the target holds something else.
    """
    if _git(source, "status", "--porcelain"):
        raise StudentRepositoryError(f"{source} has uncommitted changes: commit them first")
    _prepare(target)
    for name in _tracked(target):
        (target / name).unlink(missing_ok=True)
    for name in _tracked(source, *SHARED):
        if not name.startswith(f"{NOT_SHARED}/"):
            _copy(source / name, target / name)
    version = tomllib.loads((source / "pyproject.toml").read_text())["project"]["version"]
    for name, text in _generated(source).items():
        (target / name).write_text(text)
    write_index(target / "notebooks", this_machine=False)
    (target / MARK).write_text(f"{version}\n")
    _git(target, "add", "--all")
    if not _git(target, "status", "--porcelain"):
        return f"{target} holds version {version} already"
    _git(target, "commit", "--quiet", "--message", f"Version {version} of the course")
    return f"{target}: committed version {version}"


def _prepare(target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        target.mkdir(parents=True, exist_ok=True)
        _git(target, "init", "--quiet", "--initial-branch=main")
    elif not (target / MARK).is_file():
        raise StudentRepositoryError(f"{target} holds other files: name a folder that does not exist yet")
    elif _git(target, "status", "--porcelain"):
        raise StudentRepositoryError(f"{target} has uncommitted changes: commit or remove them first")


def _tracked(folder: Path, *places: str) -> list[str]:
    return [name for name in _git(folder, "ls-files", "-z", "--", *places).split("\0") if name]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target, follow_symlinks=False)


def _generated(source: Path) -> dict[str, str]:
    """Return the files that differ from those of the course, by name."""
    names = (LOCK, "pyproject.toml", "Makefile", "README.md", ".gitignore")
    lock, pyproject, makefile, readme, ignored = ((source / name).read_text() for name in names)
    return {
        LOCK: student_lock(lock, tomllib.loads(pyproject)["project"]),
        "pyproject.toml": _sections(pyproject),
        "Makefile": _makefile(makefile),
        "README.md": README.read_text().replace("{lessons}", _lesson_table(readme)),
        ".gitignore": ignored.replace(f"/notebooks/{INDEX}\n", ""),
        ".gitattributes": "*.ipynb merge=notebook\n",
        "nbgrader_config.py": student_settings(source),
        PAGE_CONFIG: page_config(LAPTOP_EXTENSIONS_OFF),
    }


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
    kept = _closure([*dependencies, *extras["formats"]])
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


def _sections(pyproject: str) -> str:
    """Return the sections of a `pyproject.toml` that an installation needs."""
    parts = re.split(r"^(?=\[)", pyproject, flags=re.MULTILINE)
    return "".join(part for part in parts if part.startswith(tuple(f"[{name}]" for name in SECTIONS)))


def _makefile(makefile: str) -> str:
    """Return the rules that a student needs, with the variables above them."""
    head, rules = makefile.split("\n\nhelp:", 1)
    blocks = f"help:{rules}".split("\n\n")
    wanted = re.compile(rf"^({'|'.join(TARGETS)}|\$\(READY\)):", re.MULTILINE)
    head = re.sub(r"^\.PHONY:.*", f".PHONY: {' '.join(TARGETS)}", head, flags=re.MULTILINE)
    return "\n\n".join([head, *filter(wanted.search, blocks), ""])


def _lesson_table(readme: str) -> str:
    """Return the table of lessons of the course's README."""
    return "\n".join(line for line in readme.splitlines() if line.startswith("| ["))


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        reason = f"git {arguments[0]} failed in {folder}: {error.stderr.strip()}"
        raise StudentRepositoryError(reason) from error
    return done.stdout.strip("\n")


def main(arguments: list[str] | None = None) -> int:
    """Write the repository and print what was done."""
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.grading.site.student_repository", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="a new folder, or a repository that this command wrote")
    parser.add_argument("--source", type=Path, default=Path.cwd(), help="clone of the course (default: here)")
    options = parser.parse_args(arguments)
    try:
        told = write_student_repository(options.source.absolute(), options.folder.absolute())
    except StudentRepositoryError as error:
        sys.stderr.write(f"Stopped: {error}\n")
        return 1
    sys.stdout.write(f"{told}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

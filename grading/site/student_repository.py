"""Generate the repository that students clone: `make students`.

It holds what the lessons need and nothing else: no solutions, no answers, no grading, no tests, and a lock
file without the packages that only these need. A second call with the same folder commits what has changed
since, so that students can update by `make update`.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from course_utils.start_page import INDEX, write_index
from grading.site.commands import DeployError
from grading.site.student_lock import student_lock
from grading.site.student_makefile import student_makefile
from grading.site.templates import LAPTOP_EXTENSIONS_OFF, clone_settings, course_id, page_config

MARK = ".feeding-the-gpu-students"  # holds the version; only a repository with this file is written to
LOCK = "requirements.txt"
CONFIG = "nbgrader_config.py"
EXCHANGE = re.compile(r"^c\.Exchange\.root = (.+)$", re.MULTILINE)
PAGE_CONFIG = ".make/page_config.json"  # .make/venv.sh copies it into the environment
README = Path(__file__).with_name("student_readme.md")
AGENTS = Path(__file__).with_name("student_agents.md")
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
SECTIONS = ("build-system", "project", "tool.setuptools.packages.find", "tool.setuptools.package-data")


class StudentRepositoryError(DeployError):
    """The repository cannot be written; the message says what to do."""


def write_student_repository(source: Path, target: Path, exchange: str = "", site: Path | None = None) -> str:
    """Write the students' files of a checkout into a git repository and commit them.

    Args:
        source: A clone of the course, without uncommitted changes.
        target: A folder that does not exist or is empty, or a repository that this function wrote.
        exchange: The folder of nbgrader's exchange, where students hand in; empty keeps the one it names.
        site: The folder of a site, whose environment is used; None for clones that install their own.

    Returns:
        One sentence that says what was committed.

    Raises:
        StudentRepositoryError: The clone has changes, or the target holds something else.
    """
    if _git(source, "status", "--porcelain"):
        raise StudentRepositoryError(f"{source} has uncommitted changes: commit them first")
    _prepare(target)
    generated = _generated(source, exchange or _exchange_of(target), site)
    for name in _tracked(target):
        (target / name).unlink(missing_ok=True)
    for name in _tracked(source, *SHARED):
        _copy(source / name, target / name)
    version = tomllib.loads((source / "pyproject.toml").read_text())["project"]["version"]
    for name, text in generated.items():
        (target / name).write_text(text)
    write_index(target / "notebooks", this_machine=False)
    if site:
        _ask_for_kernel(target / "notebooks", course_id(source))
    (target / MARK).write_text(f"{version}\n")
    _git(target, "add", "--all")
    if not _git(target, "status", "--porcelain"):
        return f"{target} holds version {version} already"
    _git(target, *_identity(target), "commit", "--quiet", "--message", f"Version {version} of the course")
    return f"{target}: committed version {version}"


def _prepare(target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        target.mkdir(parents=True, exist_ok=True)
        _git(target, "init", "--quiet", "--initial-branch=main")
    elif not (target / MARK).is_file():
        raise StudentRepositoryError(f"{target} holds other files: name a folder that does not exist yet")
    elif _git(target, "status", "--porcelain"):
        raise StudentRepositoryError(f"{target} has uncommitted changes: commit or remove them first")


def _exchange_of(target: Path) -> str:
    """Return the exchange that a repository names already; empty if it names none."""
    config = target / CONFIG
    found = EXCHANGE.search(config.read_text()) if config.is_file() else None
    return str(ast.literal_eval(found[1])) if found else ""


def _tracked(folder: Path, *places: str) -> list[str]:
    return [name for name in _git(folder, "ls-files", "-z", "--", *places).split("\0") if name]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target, follow_symlinks=False)


def _generated(source: Path, exchange: str, site: Path | None) -> dict[str, str]:
    """Return the files that differ from those of the course, by name."""
    names = (LOCK, "pyproject.toml", "Makefile", "README.md", ".gitignore")
    lock, pyproject, makefile, readme, ignored = ((source / name).read_text() for name in names)
    return {
        LOCK: student_lock(lock, tomllib.loads(pyproject)["project"]),
        "pyproject.toml": _sections(pyproject),
        "Makefile": student_makefile(makefile, site),
        "README.md": README.read_text().replace("{lessons}", _lesson_table(readme)),
        "AGENTS.md": AGENTS.read_text(),
        ".gitignore": ignored.replace(f"/notebooks/{INDEX}\n", "/notebooks/*/feedback/\n"),
        ".gitattributes": "*.ipynb merge=notebook\n",
        CONFIG: clone_settings(source, exchange),
        PAGE_CONFIG: page_config(LAPTOP_EXTENSIONS_OFF),
    }


def _ask_for_kernel(notebooks: Path, name: str) -> None:
    """Let notebooks run in the kernel that `start` installs: python3 is that of the Hub.

    The digests of the release no longer hold.
    """
    kernel = {"display_name": "Feeding the GPU", "language": "python", "name": name}
    for path in notebooks.rglob("*.ipynb"):
        notebook = json.loads(path.read_text())
        notebook["metadata"]["kernelspec"] = kernel
        path.write_text(f"{json.dumps(notebook, indent=1, ensure_ascii=False)}\n")
    (notebooks / "SHA256SUMS").unlink(missing_ok=True)


def _sections(pyproject: str) -> str:
    """Return the sections of a `pyproject.toml` that an installation needs."""
    parts = re.split(r"^(?=\[)", pyproject, flags=re.MULTILINE)
    return "".join(part for part in parts if part.startswith(tuple(f"[{name}]" for name in SECTIONS)))


def _lesson_table(readme: str) -> str:
    """Return the table of lessons of the course's README."""
    return "\n".join(line for line in readme.splitlines() if line.startswith("| ["))


def _identity(folder: Path) -> tuple[str, ...]:
    """Return options that name the author of a commit, unless the teacher's own settings do."""
    known = {name for name in ("name", "email") if os.environ.get(f"GIT_AUTHOR_{name.upper()}")}
    known |= set(re.findall(r"^user\.(name|email)=.", _git(folder, "config", "--list"), re.MULTILINE))
    return () if len(known) == 2 else ("-c", "user.name=course", "-c", "user.email=course@localhost")


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        reason = f"git {arguments[0]} failed in {folder}: {error.stderr.strip()}"
        raise StudentRepositoryError(reason) from error
    return done.stdout.strip("\n")


def main(arguments: list[str] | None = None) -> int:
    """Write the repository and print what was done."""
    parser = argparse.ArgumentParser(prog="python -m grading.site.student_repository", description=__doc__)
    parser.add_argument("folder", type=Path, help="a new folder, or a repository that this command wrote")
    parser.add_argument("--source", type=Path, default=Path.cwd(), help="clone of the course (default: here)")
    parser.add_argument(
        "--exchange", type=Path, help="folder of nbgrader's exchange (default: what the repository names)"
    )
    options = parser.parse_args(arguments)
    exchange = str(options.exchange.absolute()) if options.exchange else ""
    try:
        told = write_student_repository(options.source.absolute(), options.folder.absolute(), exchange)
    except StudentRepositoryError as error:
        sys.stderr.write(f"Stopped: {error}\n")
        return 1
    sys.stdout.write(f"{told}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

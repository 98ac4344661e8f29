"""Update a student's clone by git, whose history keeps every version of the student's files."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course_utils.update.merge import NotANotebookError, read_notebook
from course_utils.update.own_script import PAGE, update_script

COMMIT_MESSAGE = "My work before an update of the course"
LESSONS = "notebooks"


class UpdateError(RuntimeError):
    """The clone was not updated and is as before; the message says what to do."""


@dataclass
class Update:
    """What an update did.

    Attributes:
        commit: The commit that holds all of the student's files as they were; None if nothing was new.
        notebooks: Notebooks that both sides had changed; their cells were merged.
        replaced: Other files that both had changed; the new version was taken.
        set_aside: Copies of notebooks that could not be read.
        script: A sentence about the student's own `train.py`, empty if it stayed as it was.
    """

    commit: str | None = None
    notebooks: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    set_aside: list[str] = field(default_factory=list)
    script: str = ""


def update_clone(clone: Path) -> Update:
    """Commit a student's work, fetch the course, and merge its new version.

    Args:
        clone: The student's clone of the course.

    Raises:
        UpdateError: The folder is no clone, a merge is unfinished, or the server cannot be reached.
    """
    if not (clone / ".git").exists():
        raise UpdateError(
            f"{clone} is not a clone made by git: clone the course again, and copy notebooks/ there"
        )
    if (clone / ".git" / "MERGE_HEAD").exists():
        raise UpdateError("an earlier merge is unfinished: finish it, or undo it by `git merge --abort`")
    upstream = _git(
        clone,
        "rev-parse",
        "--abbrev-ref",
        "@{upstream}",
        wrong="this branch follows no other: git checkout main",
    )
    _git(clone, "fetch", "--quiet", wrong="the course's server did not answer: try again later")
    if _succeeds(clone, "merge-base", "--is-ancestor", upstream, "HEAD"):
        return Update()
    base = _git(clone, "merge-base", "HEAD", upstream)
    update = Update(set_aside=_set_unreadable_aside(clone, base))
    _commit_work(clone)
    update.commit = _git(clone, "rev-parse", "--short", "HEAD")
    both = sorted(_changed(clone, base, "HEAD") & _changed(clone, base, upstream))
    update.notebooks = [name for name in both if name.endswith(".ipynb")]
    update.replaced = [name for name in both if name not in update.notebooks]
    _merge(clone, upstream)
    update.script = update_script(clone, _text(clone, base, PAGE), _text(clone, "HEAD", PAGE))
    return update


def merge_driver(python: str = sys.executable) -> str:
    """Return the command with which git merges notebooks, for its setting `merge.notebook.driver`."""
    return f'"{python}" -m course_utils.update --merge %O %A %B'


def _set_unreadable_aside(clone: Path, base: str) -> list[str]:
    """Copy notebooks of the course that cannot be read, and take the version that the student began with."""
    found = []
    for name in _git(clone, "ls-tree", "-r", "-z", "--name-only", base, "--", LESSONS).split("\0"):
        path = clone / name
        if path.suffix != ".ipynb" or not path.is_file():
            continue
        try:
            read_notebook(path)
        except NotANotebookError:
            copy = next(one for one in _names_beside(path) if not one.exists())
            shutil.copy2(path, copy)
            _git(clone, "checkout", "--quiet", base, "--", name)
            found.append(str(copy.relative_to(clone)))
    return found


def _names_beside(path: Path) -> Sequence[Path]:
    return [path.with_name(f"{path.stem}.unreadable-{number}.ipynb") for number in range(1, 1000)]


def _commit_work(clone: Path) -> None:
    _git(clone, "add", "--update")
    _git(clone, "add", "--", LESSONS)
    if not _succeeds(clone, "diff", "--cached", "--quiet"):
        _git(clone, *_identity(clone), "commit", "--quiet", "--no-verify", "--message", COMMIT_MESSAGE)


def _merge(clone: Path, upstream: str) -> None:
    driver = ("-c", f"merge.notebook.driver={merge_driver()}")
    merge = ("merge", "--quiet", "--no-edit", "--strategy-option=theirs", upstream)
    done = _run(clone, *_identity(clone), *driver, *merge)
    if done.returncode == 0:
        return
    if not (clone / ".git" / "MERGE_HEAD").exists():
        raise UpdateError(f"git could not merge {upstream}. It says: {done.stderr.strip()}")
    # What is left: a file that one side changed and the other removed. The changed one stays.
    unmerged = _git(clone, "diff", "--name-only", "--diff-filter=U", "-z").split("\0")
    for name in filter(None, unmerged):
        _git(clone, "add" if (clone / name).exists() else "rm", "--", name)
    _git(clone, *_identity(clone), "commit", "--quiet", "--no-verify", "--no-edit")


def _changed(clone: Path, base: str, version: str) -> set[str]:
    return set(filter(None, _git(clone, "diff", "--name-only", "-z", base, version).split("\0")))


def _text(clone: Path, version: str, name: str) -> str:
    """Return a file of a version; an empty text where the version lacks it."""
    return _run(clone, "show", f"{version}:{name}").stdout


def _succeeds(clone: Path, *arguments: str) -> bool:
    return _run(clone, *arguments).returncode == 0


def _git(clone: Path, *arguments: str, wrong: str = "") -> str:
    done = _run(clone, *arguments)
    if done.returncode:
        told = f"git: {done.stderr.strip()}"
        raise UpdateError(f"{wrong} ({told})" if wrong else told)
    return done.stdout.strip("\n")


def _run(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", clone, *arguments], check=False, capture_output=True, text=True)


def _identity(clone: Path) -> tuple[str, ...]:
    """Return options that name the author of a commit, unless the student's own settings do."""
    if _succeeds(clone, "config", "user.email"):
        return ()
    return ("-c", "user.name=student", "-c", "user.email=student@localhost")

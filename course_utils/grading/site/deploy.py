"""Sets a course up for a JupyterHub: `python -m course_utils.grading.site TEACHER_DIR`.

Everything goes into that one folder of a shared filesystem: the environment, the data, a kernel, the
configurations of students' and teachers' Jupyter servers, nbgrader's exchange, and the teacher's own course
folder that nobody else can read.
A second call changes only what has come to differ, and says what it changed.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from course_utils.grading.site import templates

READY = ".complete"


class DeployError(RuntimeError):
    """A step cannot be done; the message says what to do."""


@dataclass(frozen=True)
class Site:
    """Where the course is set up, and from what.

    Args:
        root: The folder on the shared filesystem (``TEACHER_DIR``).
        source: A clone of the course's repository.
        python: The Python that the environment is made with; every account must be able to run it.
        hub: The Hub's address, for the students' link.
        repository: Address of a git repository with the released notebooks, for the students' link.
        teachers: Account names.
    """

    root: Path
    source: Path
    python: Path
    hub: str = "https://HUB"
    repository: str = "REPOSITORY"
    teachers: tuple[str, ...] = ()

    @property
    def environment(self) -> Path:
        """The environment that every account runs."""
        return self.root / "env"

    @property
    def course(self) -> Path:
        """The teacher's folder: sources, submissions, gradebook."""
        return self.root / "course"

    def link(self, lesson: str = "") -> str:
        """The address that students open: it pulls the notebooks and opens JupyterLab on them."""
        name = Path(self.repository).name.removesuffix(".git")
        path = f"lab/tree/{name}/notebooks/{lesson}".rstrip("/")
        query = urlencode({"repo": self.repository, "targetpath": name, "urlpath": path})
        return f"{self.hub.rstrip('/')}/hub/user-redirect/git-pull?{query}"


def set_up(site: Site) -> Iterator[str]:
    """Do each step that is still to do, and yield what it changed."""
    for step in STEPS:
        yield from step(site)


def _folders(site: Site) -> Iterator[str]:
    """Make the folders with the modes that the exchange needs.

    The exchange is sticky: a student may hand in, and can neither list, rename nor remove what others own.
    """
    exchange = site.root / "exchange" / templates.course_id(site.source)
    modes = {
        site.root: 0o755,
        exchange.parent: 0o1777,
        exchange: 0o755,
        exchange / "outbound": 0o755,
        exchange / "inbound": 0o3733,
        exchange / "feedback": 0o711,
        site.course: 0o700,
    }
    for folder, mode in modes.items():
        if not folder.is_dir():
            folder.mkdir(parents=True)
            yield f"made {folder}"
        if folder.stat().st_uid != os.geteuid():
            raise DeployError(f"{folder} belongs to another account; run this as the one that owns it")
        if folder.stat().st_mode & 0o7777 != mode:
            folder.chmod(mode)
            yield f"set the mode of {folder} to {mode:o}"


def _course(site: Site) -> Iterator[str]:
    if not (site.course / ".git").exists():
        _run("git", "clone", "--quiet", str(site.source), str(site.course))
        yield f"cloned the course into {site.course}"


def _environment(site: Site, compile_bytecode: bool = True) -> Iterator[str]:
    """Install the environment, with the bytecode that students, who cannot write there, could never keep."""
    stamp = site.environment / READY
    wanted = (site.source / "requirements.txt").read_text() + _revision(site.source)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    _refuse_private(site.python)
    uv = shutil.which("uv") or shutil.which("uv", path=site.source / ".tools" / "bin")
    if not uv:
        raise DeployError(f"uv is not installed; this fetches it: make -C {site.source} data")
    _run(uv, "venv", "--quiet", "--clear", "--python", site.python, site.environment)
    options = ["--quiet", *["--compile-bytecode"] * compile_bytecode, "--python", site.environment]
    _run(uv, "pip", "install", *options, "--requirements", site.source / "requirements.txt", site.source)
    _run("chmod", "-R", "go+rX", site.environment)
    stamp.write_text(wanted)
    yield f"installed the environment {site.environment}"


def _refuse_private(python: Path) -> None:
    for part in (python, *python.resolve().parents, python.resolve()):
        if not part.stat().st_mode & 0o001:
            raise DeployError(
                f"{python} cannot be run by other accounts (see the mode of {part}); "
                "name a Python outside of private folders: --python /usr/bin/python3"
            )


def _data(site: Site) -> Iterator[str]:
    data = site.root / "JHS_data"
    command = [site.environment / "bin" / "python", "-m", "data_setup"]
    if not (data / "manifest.json").is_file():
        _run(*command, "photos", "--out", data)
        yield f"made the default data in {data}"
    _run(*command, "verify", "--out", data)
    _run("chmod", "-R", "go+rX", data)


def _files(site: Site) -> Iterator[str]:
    for path, text in templates.texts(site.root, site.course, site.teachers).items():
        target = site.root / path
        if not target.is_file() or target.read_text() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            yield f"wrote {target}"
    for folder in (site.root / "jupyter").rglob("*"):
        folder.chmod(0o755 if folder.is_dir() else 0o644)


STEPS: tuple[Callable[[Site], Iterator[str]], ...] = (_folders, _course, _environment, _data, _files)


def _revision(source: Path) -> str:
    return _run("git", "-C", source, "rev-parse", "HEAD")


def _run(*command: str | Path) -> str:
    try:
        words = [str(part) for part in command]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise DeployError(f"{command[0]} is not installed: {error}") from error
    except subprocess.CalledProcessError as error:
        tail = (error.stderr or error.stdout).strip()[-2000:]
        raise DeployError(f"this failed: {' '.join(map(str, command))}\n{tail}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m course_utils.grading.site", description=__doc__)
    parser.add_argument("root", type=Path, metavar="TEACHER_DIR", help="folder on the shared filesystem")
    parser.add_argument("--python", type=Path, default=Path("/usr/bin/python3"),
                        help="a Python that every account can run (default: %(default)s)")  # fmt: skip
    parser.add_argument("--source", type=Path, default=Path.cwd(), help="clone of the course (default: here)")
    parser.add_argument("--hub", default=Site.hub, help="the Hub's address, for the students' link")
    parser.add_argument("--repository", default=Site.repository,
                        help="git address of the released notebooks, for the students' link")  # fmt: skip
    parser.add_argument("--teacher", action="append", default=[], help="account of a teacher; repeatable")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Set the course up and say what changed."""
    given = _parser().parse_args(arguments)
    site = Site(
        given.root.absolute(), given.source.absolute(), given.python.absolute(),
        given.hub, given.repository, tuple(given.teacher),
    )  # fmt: skip
    changes = 0
    try:
        for change in set_up(site):
            changes += 1
            sys.stdout.write(f"{change}\n")
            sys.stdout.flush()
    except DeployError as error:
        sys.stderr.write(f"Stopped: {error}\n")
        return 1
    sys.stdout.write(f"{changes or 'no'} changes; students open {site.link()}\n")
    return 0

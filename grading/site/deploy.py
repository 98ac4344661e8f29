"""Deploy a course on a shared file system: `python -m grading.site TEACHER_DIR`.

That one folder gets the environment, the data, a kernel, nbgrader's exchange, the students' repository, the
command `start` that students type, and the teacher's own course folder, which nobody else can read. For
administrators, it holds the Jupyter configurations of students and teachers. The command is idempotent: it
changes only what differs, and prints what it changed.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from grading.site import templates
from grading.site.commands import DeployError, run
from grading.site.course_folder import update_course_folder
from grading.site.deployment import Site
from grading.site.environment import install_environment, install_own_python, require_usable_python
from grading.site.student_start import publish_to_students


def set_up(site: Site) -> Iterator[str]:
    """Perform all steps and yield what each one changed."""
    for step in STEPS:
        yield from step(site)


def _require_reachable(site: Site) -> Iterator[str]:
    """Refuse a folder inside one that its owner alone can enter; access lists show in the group's bits."""
    yield from ()
    for folder in site.root.parents:
        if folder.is_dir() and not folder.stat().st_mode & 0o011:
            raise DeployError(
                f"only its owner can enter {folder}: name a TEACHER_DIR elsewhere, or let others enter it "
                f"(without listing it): chmod o+x {folder}"
            )


def _make_folders(site: Site) -> Iterator[str]:
    """Make the folders with the modes that the exchange needs.

    The exchange is sticky: students can submit, but cannot list, rename or remove what others own.
    """
    exchange = site.exchange / templates.course_id(site.source)
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
            try:
                folder.mkdir(parents=True)
            except PermissionError as error:
                raise DeployError(f"{error}: name a TEACHER_DIR where your account can write") from error
            yield f"created {folder}"
        if folder.stat().st_uid != os.geteuid():
            raise DeployError(f"{folder} belongs to another account; run this as its owner")
        if folder.stat().st_mode & 0o7777 != mode:
            folder.chmod(mode)
            yield f"set the mode of {folder} to {mode:o}"


def _clone_course(site: Site) -> Iterator[str]:
    yield from update_course_folder(site.source, site.course)


def _make_data(site: Site) -> Iterator[str]:
    data = site.root / "JHS_data"
    command = (site.environment / "bin" / "python", "-m", "data_setup")
    if not (data / "manifest.json").is_file():
        run(*command, "photos", "--out", data)
        yield f"created the default data in {data}"
    if not (data / "tokens" / "manifest.json").is_file():
        run(*command, "tokens", "--out", data / "tokens")
        yield f"created the tokens of lesson 07 in {data / 'tokens'}"
    run(*command, "verify", "--out", data)
    run("chmod", "-R", "go=rX", data)


def _write_files(site: Site) -> Iterator[str]:
    for path, text in templates.render(site.root, site.course, site.teachers).items():
        target = site.root / path
        if not target.is_file() or target.read_text() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
            yield f"wrote {target}"
    for folder in (site.root / "jupyter").rglob("*"):
        folder.chmod(0o755 if folder.is_dir() else 0o644)


STEPS: tuple[Callable[[Site], Iterator[str]], ...] = (
    require_usable_python,
    _require_reachable,
    _make_folders,
    install_own_python,
    _clone_course,
    install_environment,
    _make_data,
    _write_files,
    publish_to_students,
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m grading.site", description=__doc__)
    parser.add_argument("root", type=Path, metavar="TEACHER_DIR", help="folder on the shared file system")
    parser.add_argument("--python", type=Path, default=Path("/usr/bin/python3"),
                        help="a Python that all accounts can run, or own (default: %(default)s)")  # fmt: skip
    parser.add_argument(
        "--packages", type=Path, help="install from this folder, which make packages has filled"
    )
    parser.add_argument("--source", type=Path, default=Path.cwd(), help="clone of the course (default: here)")
    parser.add_argument("--hub", default=Site.hub, help="address of a Hub with nbgitpuller, for a link")
    parser.add_argument("--repository", default=Site.repository,
                        help="git address of the students' repository, for that link")  # fmt: skip
    parser.add_argument(
        "--teacher", action="append", default=[], help="account of a teacher; may be repeated"
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Deploy the course and print what changed."""
    options = _parser().parse_args(arguments)
    os.umask(0o022)  # students read what is written here, and nobody else changes it
    site = Site(
        options.root.absolute(), options.source.absolute(), options.python.absolute(),
        options.hub, options.repository, tuple(options.teacher),
        options.packages.absolute() if options.packages else None,
    )  # fmt: skip
    if str(options.python) == "own":
        site = replace(site, python=site.own_python)
    changes = 0
    try:
        for change in set_up(site):
            changes += 1
            sys.stdout.write(f"{change}\n")
            sys.stdout.flush()
    except DeployError as error:
        sys.stderr.write(f"Stopped: {error}\n")
        return 1
    link = f", or open {site.link()}" if site.hub and site.repository else ""
    sys.stdout.write(f"{changes or 'no'} changes; students type {site.start}{link}\n")
    return 0

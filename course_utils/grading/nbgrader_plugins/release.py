"""What students get: `notebooks/`, generated from `solutions/` with nbgrader."""

import argparse
import hashlib
import logging
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

SUMS = "SHA256SUMS"  # what a release consists of, as `sha256sum --check` reads it


class EditedError(Exception):
    """`notebooks/` holds what no release has put there."""


def lessons(course: Path) -> list[str]:
    """Lists the lessons: the names of the numbered folders in `solutions/` that hold a notebook, sorted."""
    return sorted({path.parent.name for path in (course / "solutions").glob("[0-9][0-9]_*/*.ipynb")})


def generate(course: Path, target: Path) -> None:
    """Generates the release of every lesson.

    Args:
        course: The course's folder, with `nbgrader_config.py` and `solutions/`.
        target: The folder to make; it gets one folder a lesson, and `SHA256SUMS` of their files.

    Raises:
        NbGraderException: nbgrader refuses a solution; its message names the notebook.
    """
    target.mkdir()
    config = PyFileConfigLoader("nbgrader_config.py", str(course)).load_config()
    config.CourseDirectory.root = str(course.absolute())
    config.CourseDirectory.release_directory = str(target.absolute())
    # What `nbgrader generate_assignment --no-db` sets: a release leaves no trace in the gradebook.
    config.GenerateAssignment.no_database, config.SaveCells.enabled = True, False
    for lesson in lessons(course):
        config.CourseDirectory.assignment_id = lesson
        folders = CourseDirectory(config=config)
        GenerateAssignment(coursedir=folders, config=config).start()
    (target / SUMS).write_text("".join(_sum(target / name, name) for name in _files(target)))


def edited(published: Path) -> list[Path]:
    """Lists the files of a release that are not as it was made: changed since, or added; sorted."""
    sums = published / SUMS
    released = set(sums.read_text().splitlines(keepends=True)) if sums.exists() else set()
    return [name for name in _files(published) if _sum(published / name, name) not in released]


def generate_release(course: Path, force: bool = False) -> None:
    """Replaces `notebooks/` by a release generated afresh, or leaves it as it was.

    Args:
        course: The course's folder.
        force: Replace it even if somebody has worked in it since the last release.

    Raises:
        EditedError: Somebody has worked in `notebooks/`; it is untouched.
        NbGraderException: nbgrader refuses a solution; `notebooks/` is untouched.
    """
    published = course / "notebooks"
    if not force and (names := edited(published)):
        raise EditedError(
            "a release would replace what somebody has written here:\n"
            + "".join(f"  {published / name}\n" for name in names)
            + "Move it elsewhere first, or replace it: make release FORCE=yes"
        )
    # In the course's folder, because a rename needs one file system.
    with TemporaryDirectory(prefix=".release-", dir=course) as scratch:
        made = Path(scratch) / "made"
        generate(course, made)
        if published.exists():
            published.rename(Path(scratch) / "previous")
        made.rename(published)


def _files(folder: Path) -> list[Path]:
    """The files below a folder, relative to it; without the list of sums and JupyterLab's checkpoints."""
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return [name for name in names if name != Path(SUMS) and ".ipynb_checkpoints" not in name.parts]


def _sum(path: Path, name: Path) -> str:
    return f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name.as_posix()}\n"


def main() -> None:
    """Runs `make release`."""
    logging.basicConfig(format="%(message)s")  # nbgrader says there which cell it refuses
    parser = argparse.ArgumentParser(
        prog="python -m course_utils.grading.nbgrader_plugins.release", description=__doc__
    )
    parser.add_argument("--force", action="store_true", help="replace what somebody has written there")
    try:
        generate_release(Path.cwd(), parser.parse_args().force)
    except EditedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

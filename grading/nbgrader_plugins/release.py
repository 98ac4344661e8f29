"""The release for students: `notebooks/`, generated from `solutions/` with nbgrader."""

import argparse
import hashlib
import logging
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader

from course_utils.start_page import INDEX, MORE
from grading.course.lesson import lesson_names
from grading.links.glossary import PAGE

MINE = "my_files"  # who tries the lessons keeps files of their own there; no release touches them
SUMS = "SHA256SUMS"  # digests of a release's files, in the format of `sha256sum --check`


class EditedError(Exception):
    """`notebooks/` holds files that differ from the last release."""


def generate(course: Path, target: Path) -> None:
    """Generate the release of every lesson, and of what is optional beside the lessons.

    Args:
        course: The course's folder, with `nbgrader_config.py` and `solutions/`.
        target: The folder to create; it gets one folder per lesson, the glossary, and `SHA256SUMS`
            of their files.

    Raises:
        NbGraderException: nbgrader refuses a solution; its message names the notebook.
    """
    target.mkdir()
    config = PyFileConfigLoader("nbgrader_config.py", str(course)).load_config()
    config.CourseDirectory.root = str(course.absolute())
    config.CourseDirectory.release_directory = str(target.absolute())
    # As `nbgrader generate_assignment --no-db` sets it: the gradebook stays unchanged.
    config.GenerateAssignment.no_database, config.SaveCells.enabled = True, False
    more = [MORE] if (course / "solutions" / MORE).is_dir() else []
    for assignment in [*lesson_names(course / "solutions"), *more]:
        config.CourseDirectory.assignment_id = assignment
        folders = CourseDirectory(config=config)
        GenerateAssignment(coursedir=folders, config=config).start()
    if (course / "solutions" / PAGE).is_file():
        shutil.copy(course / "solutions" / PAGE, target)
    (target / SUMS).write_text("".join(_sum(target / name, name) for name in _files(target)))


def edited(published: Path) -> list[Path]:
    """Return the files of a release that were changed or added since it was generated, sorted."""
    sums = published / SUMS
    released = set(sums.read_text().splitlines(keepends=True)) if sums.exists() else set()
    return [name for name in _files(published) if _sum(published / name, name) not in released]


def generate_release(course: Path, force: bool = False) -> None:
    """Replace `notebooks/` by a newly generated release; on an error it stays unchanged.

    Args:
        course: The course's folder.
        force: Replace files that were changed or added since the last release, too.

    Raises:
        EditedError: Files in `notebooks/` were changed or added since the last release.
        NbGraderException: nbgrader refuses a solution; the message names it.
    """
    published = course / "notebooks"
    if not force and (names := edited(published)):
        raise EditedError(
            "A release would overwrite these files, which were edited since the last one:\n"
            + "".join(f"  {published / name}\n" for name in names)
            + "Move them elsewhere first, or overwrite them: make release FORCE=yes"
        )
    # In the course's folder: a rename must stay on one file system.
    with TemporaryDirectory(prefix=".release-", dir=course) as scratch:
        generated = Path(scratch) / "generated"
        generate(course, generated)
        if (published / MINE).exists():
            (published / MINE).rename(generated / MINE)
        if published.exists():
            published.rename(Path(scratch) / "previous")
        generated.rename(published)


def _files(folder: Path) -> list[Path]:
    """List the files of a release, relative to it.

    Its digests, the start page, JupyterLab's checkpoints and the folder `MINE` are left out.
    """
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return [
        name
        for name in names
        if name not in (Path(SUMS), Path(INDEX))
        and ".ipynb_checkpoints" not in name.parts
        and name.parts[0] != MINE
    ]


def _sum(path: Path, name: Path) -> str:
    return f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name.as_posix()}\n"


def main() -> None:
    """Run `make release`."""
    logging.basicConfig(format="%(message)s")  # nbgrader logs which cell it refuses
    parser = argparse.ArgumentParser(prog="python -m grading.nbgrader_plugins.release", description=__doc__)
    parser.add_argument("--force", action="store_true", help="overwrite files edited since the last release")
    try:
        generate_release(Path.cwd(), parser.parse_args().force)
    except EditedError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()

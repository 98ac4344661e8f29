"""What students get: `notebooks/`, generated from `solutions/` with nbgrader."""

import logging
from pathlib import Path
from tempfile import TemporaryDirectory

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader


def lessons(course: Path) -> list[str]:
    """Lists the lessons: the names of the numbered folders in `solutions/` that hold a notebook, sorted."""
    return sorted({path.parent.name for path in (course / "solutions").glob("[0-9][0-9]_*/*.ipynb")})


def generate(course: Path, target: Path) -> None:
    """Generates the release of every lesson.

    Args:
        course: The course's folder, with `nbgrader_config.py` and `solutions/`.
        target: The folder to make; it gets one folder a lesson.

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


def release(course: Path) -> None:
    """Replaces `notebooks/` by a release generated afresh, or leaves it as it was.

    Raises:
        NbGraderException: nbgrader refuses a solution; `notebooks/` is untouched.
    """
    # In the course's folder, because a rename needs one file system.
    with TemporaryDirectory(prefix=".release-", dir=course) as scratch:
        made, published = Path(scratch) / "made", course / "notebooks"
        generate(course, made)
        if published.exists():
            published.rename(Path(scratch) / "previous")
        made.rename(published)


if __name__ == "__main__":
    logging.basicConfig(format="%(message)s")  # nbgrader says there which cell it refuses
    release(Path.cwd())

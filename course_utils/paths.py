"""Find the folder that holds the course's data."""

import os
from pathlib import Path

FORMS = ("disk_transformed", "zip_encoded", "zip")
MANIFEST = "manifest.json"  # beside them: size and hash of each file
TOKENS = "tokens"  # beside them: the folder of a set of its own, with its own manifest


class DataNotFoundError(FileNotFoundError):
    """The course's data was not found; the message says what to do."""


def data_dir() -> Path:
    """Return the folder that holds `disk_transformed/`, `zip_encoded/` and `zip/`.

    ``COURSE_DATA`` takes precedence, then ``$TEACHER_DIR/JHS_data``, then the nearest ``data/`` in or above
    the working directory.

    Raises:
        DataNotFoundError: None of them holds the data, or the requested folder does not.
    """
    requested = requested_dir()
    nearest = (parent / "data" for parent in (Path.cwd(), *Path.cwd().parents))
    candidates = [requested] if requested else nearest
    for folder in candidates:
        if all((folder / form).is_dir() for form in FORMS):
            return folder
    raise DataNotFoundError(_advice(requested))


def requested_dir() -> Path | None:
    """Return the data folder that the environment variables name, or None.

    The folder of ``COURSE_DATA`` need not exist; ``$TEACHER_DIR/JHS_data`` counts only if it does.
    """
    if chosen := os.environ.get("COURSE_DATA"):
        return Path(chosen).expanduser().absolute()
    if teacher := os.environ.get("TEACHER_DIR"):
        shared = Path(teacher).expanduser().absolute() / "JHS_data"
        return shared if shared.is_dir() else None
    return None


def _advice(requested: Path | None) -> str:
    where = f"in {requested}" if requested else f"in a folder data/ in {Path.cwd()} or above it"
    return (
        f"The course's data was not found {where}.\n"
        "Student: on a cluster select the kernel of the course, or set TEACHER_DIR or COURSE_DATA to what "
        "your teacher says; on your own machine run `make data` in the course's folder.\n"
        "Teacher: `python -m data_setup photos --out FOLDER` makes the data; "
        "students read it from $TEACHER_DIR/JHS_data."
    )

"""Where the course's data is: the one place that reads environment variables."""

import os
from pathlib import Path

FORMS = ("disk_transformed", "zip_encoded", "zip")


class DataNotFoundError(FileNotFoundError):
    """No data where the course looks for it; the message says what to do."""


def data_dir() -> Path:
    """Find the folder that holds `disk_transformed/`, `zip_encoded/` and `zip/`.

    ``COURSE_DATA`` wins; then ``$TEACHER_DIR/JHS_data``; then the nearest ``data/`` in the working directory
    or above it.

    Raises:
        DataNotFoundError: None of them holds the data, or the folder that was asked for does not.
    """
    asked = requested_dir()
    candidates = [asked] if asked else [parent / "data" for parent in (Path.cwd(), *Path.cwd().parents)]
    for folder in candidates:
        if all((folder / form).is_dir() for form in FORMS):
            return folder
    raise DataNotFoundError(_advice(asked))


def requested_dir() -> Path | None:
    """The data folder that the environment names, whether it exists or not; None if it names none."""
    if chosen := os.environ.get("COURSE_DATA"):
        return Path(chosen).expanduser().absolute()
    if teacher := os.environ.get("TEACHER_DIR"):
        shared = Path(teacher).expanduser().absolute() / "JHS_data"
        return shared if shared.is_dir() else None
    return None


def _advice(asked: Path | None) -> str:
    where = f"in {asked}" if asked else f"in a folder data/ in {Path.cwd()} or above it"
    return (
        f"The course's data was not found {where}.\n"
        "Student: on a supercomputer ask your teacher for the value of TEACHER_DIR or COURSE_DATA "
        "and set it; on your own machine run `make data` in the course's folder.\n"
        "Teacher: `python -m data_setup photos --out FOLDER` makes the data; "
        "students read it from $TEACHER_DIR/JHS_data."
    )

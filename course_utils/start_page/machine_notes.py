"""What lessons want that this machine lacks, and what to do about it."""

from collections.abc import Collection
from importlib.metadata import PackageNotFoundError, distribution, requires

import pynvml
from packaging.requirements import Requirement

from course_utils.paths import DataNotFoundError, data_dir

PACKAGE, EXTRA = "feeding-the-gpu", "formats"


def machine_notes(lessons: Collection[str]) -> tuple[str, ...]:
    """Return sentences about what is missing here.

    Args:
        lessons: Numbers of the lessons that a student has.
    """
    notes = [_data_note()]
    if "03" in lessons and not _has_gpu():
        notes.append(
            "This machine shows no NVIDIA GPU: lesson 03 runs on the CPU, and draws recorded GPU runs."
        )
    if "04" in lessons and (missing := _missing_libraries()):
        notes.append(
            f"Lesson 04 leaves out the formats that need {', '.join(missing)}; "
            f"`pip install '{PACKAGE}[{EXTRA}]'` installs them."
        )
    return tuple(note for note in notes if note)


def _data_note() -> str:
    try:
        data_dir()
    except DataNotFoundError as error:
        what, student, *_ = str(error).splitlines()
        advice = student.removeprefix("Student: ")
        return f"**{what}** {advice[0].upper()}{advice[1:]}"
    return ""


def _has_gpu() -> bool:
    try:
        pynvml.nvmlInit()
        return bool(pynvml.nvmlDeviceGetCount())
    except pynvml.NVMLError:
        return False


def _missing_libraries() -> list[str]:
    """Return the libraries of the package's extra that are not installed."""
    return [one.name for one in _libraries() if not _is_installed(one.name)]


def _libraries() -> list[Requirement]:
    try:
        wanted = [Requirement(one) for one in requires(PACKAGE) or []]
    except PackageNotFoundError:  # a copy of the course that is not installed
        return []
    return [one for one in wanted if _is_of_extra(one)]


def _is_of_extra(requirement: Requirement) -> bool:
    marker = requirement.marker
    return bool(marker and marker.evaluate({"extra": EXTRA}) and not marker.evaluate({"extra": ""}))


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True

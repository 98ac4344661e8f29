"""Submissions a minute: stock nbgrader, which runs whole notebooks, beside this course's own road.

Both grade copies of the solved lesson with one command for a class, as a teacher does: stock settings grade
one half, then `make grade` the whole class, then stock settings the other half. Stock takes some 20 s for
each submission; `--stock 4` times only so many of them, and the table says so.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from course_utils.grading.course import lesson_names
from course_utils.grading.nbgrader_plugins import generate_release
from course_utils.system import usable_cores

COURSE = Path(__file__).parents[2]
STOCK = """
c = get_config()
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.Execute.timeout = 900
"""
ROW = "  {:<28} {:>6} {:>15} {:>7} {:>9}\n"


def course(folder: Path, lesson: str, students: int, config: str) -> Path:
    """Makes a course in which every student handed in the solved lesson."""
    shutil.copytree(COURSE / "solutions" / lesson, folder / "solutions" / lesson)
    shutil.copy(COURSE / "nbgrader_config.py", folder)
    generate_release(folder)
    (folder / "nbgrader_config.py").write_text(config)
    for number in range(students):
        submitted = folder / "submitted" / f"student{number:02}" / lesson
        shutil.copytree(folder / "notebooks" / lesson, submitted)
        shutil.copy(COURSE / "solutions" / lesson / f"{lesson}.ipynb", submitted)
    return folder


def seconds(folder: Path, *command: str) -> float:
    """Runs one of the environment's modules to its end."""
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - start


def in_turns(stock: Path, ours: Path, lesson: str) -> tuple[list[float], list[float]]:
    """Times both halves of the class of `stock`, and the class of `ours` between them; returns seconds."""
    students = sorted((stock / "submitted").iterdir())
    later = students[len(students) // 2 :]
    held = stock / "held"
    held.mkdir()
    for student in later:
        student.rename(held / student.name)
    slow = [seconds(stock, "nbgrader", "autograde", lesson)]
    fast = [seconds(ours, "course_utils.grading", "grade")]
    for student in later:
        (held / student.name).rename(student)
    slow.append(seconds(stock, "nbgrader", "autograde", lesson))
    return slow, fast


def points(folder: Path, lesson: str) -> list[str]:
    """What every student got, as nbgrader's own export says."""
    seconds(folder, "nbgrader", "export")
    rows = (folder / "grades.csv").read_text().splitlines()[1:]
    return sorted({" of ".join(row.split(",")[-2:]) for row in rows if row.startswith(lesson)})


def row(name: str, count: int, times: list[float]) -> str:
    """One line of the table: the seconds of each command, of a submission, and the rate."""
    taken = " + ".join(f"{value:.1f}" for value in times)
    return ROW.format(name, count, taken, f"{sum(times) / count:.2f}", f"{count / sum(times) * 60:.2f}")


def main() -> None:
    """Prints both rates, their ratio, and what both gave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--lesson", default="02_multi_worker_handles", choices=lesson_names(COURSE / "solutions")
    )
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument(
        "--stock", type=int, default=30, help="submissions that stock nbgrader grades (%(default)s)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        stock = course(Path(scratch) / "stock", options.lesson, options.stock, STOCK)
        seconds(stock, "nbgrader", "generate_assignment", options.lesson, "--force")
        config = (COURSE / "nbgrader_config.py").read_text()
        ours = course(Path(scratch) / "ours", options.lesson, options.students, config)
        slow, fast = in_turns(stock, ours, options.lesson)
        given = points(stock, options.lesson), points(ours, options.lesson)
    write = sys.stdout.write
    write(f"Grading lesson {options.lesson} on {usable_cores()} cores, in turns\n")
    write(ROW.format("", "graded", "s", "s each", "a minute"))
    write(row("stock nbgrader, two halves", options.stock, slow))
    write(row("this course, between them", options.students, fast))
    write(f"  ratio {options.students / sum(fast) * sum(slow) / options.stock:.1f}; ")
    write(f"points: stock {', '.join(given[0])}; this course {', '.join(given[1])}\n")
    if given[0] != given[1]:
        sys.exit("The two ways do not give the same points: their speeds cannot be compared.")


if __name__ == "__main__":
    main()

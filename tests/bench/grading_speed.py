"""Submissions graded per minute: stock nbgrader, which runs whole notebooks, and this course's grading.

Both grade copies of the solved lesson with one command for a class, as a teacher does: stock nbgrader grades
one half, then `make grade` the whole class, then stock nbgrader the other half. Stock nbgrader takes some
a minute per submission; `--stock 10` gives it ten submissions, and the table shows the number.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from course_utils.paths import data_dir
from course_utils.system import usable_cores
from grading.course.lesson import lesson_names
from grading.nbgrader_plugins.release import generate_release

COURSE = Path(__file__).parents[2]
STOCK = """
c = get_config()
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.Execute.timeout = 900
"""
ROW = "  {:<28} {:>6} {:>15} {:>7} {:>9}\n"


def make_course(folder: Path, lesson: str, students: int, config: str) -> Path:
    """Create a course in which every student submitted the solved lesson."""
    shutil.copytree(COURSE / "solutions" / lesson, folder / "solutions" / lesson)
    shutil.copy(COURSE / "nbgrader_config.py", folder)
    generate_release(folder)
    (folder / "nbgrader_config.py").write_text(config)
    for number in range(students):
        submitted = folder / "submitted" / f"student{number:02}" / lesson
        shutil.copytree(folder / "notebooks" / lesson, submitted)
        shutil.copy(COURSE / "solutions" / lesson / f"{lesson}.ipynb", submitted)
    return folder


def run_seconds(folder: Path, *command: str) -> float:
    """Run a module of this environment to completion and return the seconds that it took."""
    # Both courses lie in a temporary folder: without the data, the lesson's cells would end at once.
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "COURSE_DATA": str(data_dir()),
    }
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, check=True, capture_output=True
    )
    return time.perf_counter() - start


def measure_interleaved(stock: Path, ours: Path, lesson: str) -> tuple[list[float], list[float]]:
    """Return the seconds for both halves of the class in `stock`, and for that in `ours` between them."""
    students = sorted((stock / "submitted").iterdir())
    second_half = students[len(students) // 2 :]
    waiting = stock / "waiting"
    waiting.mkdir()
    for student in second_half:
        student.rename(waiting / student.name)
    slow = [run_seconds(stock, "nbgrader", "autograde", lesson)]
    fast = [run_seconds(ours, "grading", "grade")]
    for student in second_half:
        (waiting / student.name).rename(student)
    slow.append(run_seconds(stock, "nbgrader", "autograde", lesson))
    return slow, fast


def exported_points(folder: Path, lesson: str) -> list[str]:
    """Return the distinct points of the students, from nbgrader's own export."""
    run_seconds(folder, "nbgrader", "export")
    rows = (folder / "grades.csv").read_text().splitlines()[1:]
    return sorted({" of ".join(row.split(",")[-2:]) for row in rows if row.startswith(lesson)})


def row(name: str, count: int, times: list[float]) -> str:
    """Return one line of the table: the seconds of each command and of a submission, and the rate."""
    taken = " + ".join(f"{value:.1f}" for value in times)
    return ROW.format(name, count, taken, f"{sum(times) / count:.2f}", f"{count / sum(times) * 60:.2f}")


def main() -> None:
    """Print both rates, their ratio and the points."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--lesson", default="02_multi_worker_handles", choices=lesson_names(COURSE / "solutions")
    )
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument(
        "--stock", type=int, default=4, help="submissions that stock nbgrader grades (%(default)s)"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        stock = make_course(Path(scratch) / "stock", options.lesson, options.stock, STOCK)
        run_seconds(stock, "nbgrader", "generate_assignment", options.lesson, "--force")
        config = (COURSE / "nbgrader_config.py").read_text()
        ours = make_course(Path(scratch) / "ours", options.lesson, options.students, config)
        slow, fast = measure_interleaved(stock, ours, options.lesson)
        points = exported_points(stock, options.lesson), exported_points(ours, options.lesson)
    write = sys.stdout.write
    write(f"Grading lesson {options.lesson} on {usable_cores()} cores, interleaved\n")
    write(ROW.format("", "graded", "s", "s each", "a minute"))
    write(row("stock nbgrader, two halves", options.stock, slow))
    write(row("this course, between them", options.students, fast))
    write(f"  ratio {options.students / sum(fast) * sum(slow) / options.stock:.1f}; ")
    write(f"points: stock {', '.join(points[0])}; this course {', '.join(points[1])}\n")
    if points[0] != points[1]:
        sys.exit("Stock nbgrader and this course give different points, so their speeds cannot be compared.")


if __name__ == "__main__":
    main()

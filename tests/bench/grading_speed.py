"""Submissions a minute: stock nbgrader, which runs whole notebooks, beside this course's own road.

Both grade copies of the solved lesson, in turns within one run: a part of the class by `make grade`, then one
submission by `nbgrader autograde` with stock settings. Stock takes a minute or more for each, so only two are
timed, and the table says so; `--stock 30` times them all.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from course_utils.cores import usable_cores
from course_utils.grading.release import lessons, release

COURSE = Path(__file__).parents[2]
STOCK = """
c = get_config()
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.Execute.timeout = 900
"""
ROW = "  {:<38} {:>6} {:>9} {:>17} {:>9}\n"


def course(folder: Path, lesson: str, students: int, config: str) -> Path:
    """Makes a course in which every student handed in the solved lesson."""
    shutil.copytree(COURSE / "solutions" / lesson, folder / "solutions" / lesson)
    shutil.copy(COURSE / "nbgrader_config.py", folder)
    release(folder)
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


def in_turns(stock: Path, ours: Path, lesson: str, parts: int) -> tuple[list[float], list[float]]:
    """Times every submission of `stock` alone, and `ours` in parts between them; returns both lists, in s."""
    slow, fast = [], []
    waiting = sorted((ours / "submitted").iterdir())
    held = ours / "held"
    (ours / "submitted").rename(held)
    (ours / "submitted").mkdir()
    for number, student in enumerate(sorted(path.name for path in (stock / "submitted").iterdir())):
        if number < parts:
            for folder in waiting[number::parts]:
                (held / folder.name).rename(folder)
            fast.append(seconds(ours, "course_utils.grading", "grade"))
        slow.append(seconds(stock, "nbgrader", "autograde", lesson, "--student", student))
    return slow, fast


def points(folder: Path, lesson: str) -> list[str]:
    """What every student got, as nbgrader's own export says."""
    seconds(folder, "nbgrader", "export")
    rows = (folder / "grades.csv").read_text().splitlines()[1:]
    return sorted({" of ".join(row.split(",")[-2:]) for row in rows if row.startswith(lesson)})


def row(name: str, count: int, times: list[float]) -> str:
    """One line of the table: the rate, and the seconds of a submission with their spread over the runs."""
    each = [value * len(times) / count for value in times]
    spread = f"{statistics.median(each):.2f} ({min(each):.2f}-{max(each):.2f})"
    return ROW.format(name, count, f"{sum(times):.1f}", spread, f"{count / sum(times) * 60:.2f}")


def main() -> None:
    """Prints both rates, their ratio, and what both gave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lesson", default="02_multi_worker_handles", choices=lessons(COURSE))
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument(
        "--stock", type=int, default=2, help="submissions that stock nbgrader grades (%(default)s)"
    )
    options = parser.parse_args()
    parts = min(options.stock, 3)
    with tempfile.TemporaryDirectory() as scratch:
        stock = course(Path(scratch) / "stock", options.lesson, options.stock, STOCK)
        seconds(stock, "nbgrader", "generate_assignment", options.lesson, "--force")
        config = (COURSE / "nbgrader_config.py").read_text()
        ours = course(Path(scratch) / "ours", options.lesson, options.students, config)
        slow, fast = in_turns(stock, ours, options.lesson, parts)
        given = points(stock, options.lesson), points(ours, options.lesson)
    write = sys.stdout.write
    write(f"Grading lesson {options.lesson} on {usable_cores()} cores, in turns\n")
    write(ROW.format("", "graded", "s in all", "s each (spread)", "a minute"))
    write(row("stock nbgrader, a command for each", options.stock, slow))
    write(row(f"this course, {parts} times `make grade`", options.students, fast))
    write(f"  ratio {options.students / sum(fast) * sum(slow) / options.stock:.1f}; ")
    write(f"points: stock {', '.join(given[0])}; this course {', '.join(given[1])}\n")


if __name__ == "__main__":
    main()

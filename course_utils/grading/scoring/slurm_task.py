"""One job of a Slurm array: runs the submissions that its file lists and has not run before."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from course_utils.grading.course import course_at, result_store
from course_utils.grading.scoring.local import run_one


def main(share: Path) -> None:
    """Runs one share; started again after a loss, it goes on where it was."""
    order = json.loads(share.read_text())
    course, folder = course_at(Path(order["root"])), Path(order["folder"])
    for lesson, student in order["tasks"]:
        if result_store.read(folder, lesson, student) is None:
            result_store.write(folder, run_one(course, lesson, student))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

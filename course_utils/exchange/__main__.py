"""Hand in a lesson of this clone (`make submit LESSON=01`), or fetch its feedback (`make feedback`)."""

import argparse
import subprocess
import sys
from pathlib import Path

LESSONS = Path("notebooks")
COMMANDS = {"submit": "submit", "feedback": "fetch_feedback"}  # ours, and nbgrader's


def main(arguments: list[str] | None = None) -> int:
    """Run one of nbgrader's commands for a lesson that is named by its number."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.exchange", description=__doc__)
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("lesson", help="number or name of a lesson, such as 01")
    options = parser.parse_args(arguments)
    names = sorted(path.stem for path in LESSONS.glob("*/*.ipynb") if path.stem == path.parent.name)
    found = [name for name in names if options.lesson in (name, name.partition("_")[0])]
    if len(found) != 1:
        shown = ", ".join(names) or f"none in {LESSONS.absolute()}"
        sys.stderr.write(
            f"Which lesson? Name it by its number: make {options.command} LESSON=01 (there are {shown})\n"
        )
        return 1
    nbgrader = [sys.executable, "-m", "nbgrader", COMMANDS[options.command], found[0]]
    quiet = [] if options.command == "submit" else ["--log-level=ERROR"]  # it warns of each older submission
    status = subprocess.run([*nbgrader, *quiet], check=False, stdin=subprocess.DEVNULL).returncode
    if status == 0 and options.command == "feedback":
        sys.stdout.write(f"{_newest_page(found[0])}\n")
    return status


def _newest_page(lesson: str) -> str:
    """Say where the newest page of feedback is; the folders are named after the time of the submission."""
    pages = sorted((LESSONS / lesson / "feedback").glob(f"*/{lesson}.html"))
    return f"Open in a browser: {pages[-1]}" if pages else f"There is no feedback on {lesson} yet."


if __name__ == "__main__":
    sys.exit(main())

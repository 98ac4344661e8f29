"""Write `train.py`, or what it is after a lesson, into a folder: python -m course_utils.train_script FOLDER."""

import argparse

from course_utils.train_script.versions import LESSONS, write


def main() -> None:
    """Parse the command line, write the script unless it is there, and say where."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.train_script", description=__doc__)
    parser.add_argument("folder", nargs="?", default="my_files", help="where it is written (%(default)s)")
    parser.add_argument(
        "--after", choices=LESSONS, help="with the changes of this lesson and those before it"
    )
    options = parser.parse_args()
    print(write(options.folder, options.after))


if __name__ == "__main__":
    main()

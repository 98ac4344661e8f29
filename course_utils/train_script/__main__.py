"""Write `train.py` into a folder, as it is given or as it is after a lesson."""

import argparse
import sys

from course_utils.train_script.versions import LESSONS, write


def main() -> None:
    """Parse the command line, write the script unless it is there, and say where."""
    parser = argparse.ArgumentParser(prog="python -m course_utils.train_script", description=__doc__)
    parser.add_argument("folder", nargs="?", default="my_files", help="where it is written (%(default)s)")
    parser.add_argument("--after", choices=LESSONS, help="with the changes up to this lesson")
    options = parser.parse_args()
    sys.stdout.write(f"{write(options.folder, options.after)}\n")


if __name__ == "__main__":
    main()

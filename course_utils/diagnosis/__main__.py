"""The command: `python -m course_utils.diagnosis [options] train.py [its arguments]`."""

import sys

from course_utils.diagnosis.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

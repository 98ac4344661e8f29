"""`python -m course_utils.grading`: see `cli`."""

import sys

from course_utils.grading.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""`python -m course_utils.grading.site`: see `deploy`."""

import sys

from course_utils.grading.site.deploy import main

if __name__ == "__main__":
    sys.exit(main())

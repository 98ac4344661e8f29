"""`python -m grading.site`: see `deploy`."""

import sys

from grading.site.deploy import main

if __name__ == "__main__":
    sys.exit(main())

"""The command; processes that count operations import this module again, so it loads nothing by itself."""

import sys

if __name__ == "__main__":
    from course_utils.record.command import main

    sys.exit(main())

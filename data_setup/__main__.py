"""Entry point of `python -m data_setup`."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers can be forked only while there is one thread

from data_setup.cli import main

if __name__ == "__main__":
    sys.exit(main())

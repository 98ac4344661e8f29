"""Lets `python -m data_setup` run."""

import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's idle thread would forbid to fork the workers

from data_setup.cli import main

if __name__ == "__main__":
    sys.exit(main())

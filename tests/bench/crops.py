"""Benchmark of loaders that crop, flip and normalise full-size photographs: `tests.bench.loader --crops`."""

import sys

from tests.bench.loader import main

if __name__ == "__main__":
    main(["--crops", *sys.argv[1:]])

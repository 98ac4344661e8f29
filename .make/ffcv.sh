#!/bin/sh
# Adds FFCV to the environment $1 where it can be compiled; the benchmark lists it as not measured elsewhere.
PATH="$PATH:.tools/bin" uv pip install --quiet --python "$1" --no-deps --requirements tests/bench/ffcv.txt ||
    echo "FFCV was not built, and is left out: it needs g++, pkg-config, libopencv-dev and libturbojpeg0-dev." >&2

"""Compile the library that injects faults, and start runners."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.lessons.lesson import COURSE

HERE = Path(__file__).parent


def compiled(folder: Path) -> Path:
    """Compile the library; skip the test where that is impossible."""
    library = folder / "preload.so"
    command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "preload.c", "-ldl"]
    if not sys.platform.startswith("linux"):
        pytest.skip("faults are injected by LD_PRELOAD, which only Linux has")
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the library that injects faults is not compiled: {getattr(error, 'stderr', error)}")
    return library


def inject(library: Path, runner: str, request: Mapping[str, object], least: int) -> list[dict[str, object]]:
    """Run the cases of a request; return those that went wrong.

    Checks that there were as many as a command has calls that change files.

    Args:
        library: The compiled library.
        runner: The module that runs the cases, and prints those that went wrong and a summary.
        request: What it is asked for; with a `stride` of n, a fault in every n-th call.
        least: The number of calls that change files is at least this.
    """
    done = subprocess.run(
        [sys.executable, "-m", runner],
        input=json.dumps(request),
        env={**os.environ, "LD_PRELOAD": str(library)},
        cwd=COURSE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    *problems, summary = map(json.loads, done.stdout.splitlines())
    assert summary["calls"] >= least
    assert summary["cases"] >= summary["calls"] // request["stride"]
    return problems

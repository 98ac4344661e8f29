"""One formatter's opinion for the whole repository, notebooks included (its rules are in pyproject.toml)."""

import subprocess

from tests.lessons.lesson import COURSE


def test_ruff_finds_nothing():
    done = subprocess.run(["ruff", "check", "--no-cache"], cwd=COURSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

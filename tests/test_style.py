"""Formatter, linter and type checker find nothing (their rules are in pyproject.toml)."""

import os
import shutil
import subprocess

import pytest

from tests.lessons.lesson import COURSE

NOWHERE = "http://127.0.0.1:9"


@pytest.mark.proof  # `make check` calls them itself
@pytest.mark.parametrize(
    "command",
    ["ruff check --no-cache", "ruff format --no-cache --check", "mypy"],
    ids=lambda command: command.partition(" --")[0].replace(" ", "-"),
)
def test_tool_reports_nothing(command: str):
    done = subprocess.run(command.split(), cwd=COURSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_pre_commit_runs_without_network(tmp_path):
    """Every hook is a tool of the environment; one that changes a file stops the commit."""
    git = ("git", "-c", "user.name=Test", "-c", "user.email=test@example.org")
    clone = tmp_path / "clone"
    subprocess.run([*git, "clone", "--quiet", COURSE, clone], check=True)
    shutil.copy(COURSE / ".pre-commit-config.yaml", clone)
    (clone / "course_utils" / "unformatted.py").write_text('"""A module."""\n\nANSWER = {  }\n')
    subprocess.run([*git, "add", "--all"], cwd=clone, check=True)
    done = subprocess.run(
        ["pre-commit", "run", "--files", "course_utils/unformatted.py"],
        cwd=clone,
        env={
            **os.environ,
            "http_proxy": NOWHERE,
            "https_proxy": NOWHERE,
            "PRE_COMMIT_HOME": str(tmp_path / "cache"),
            "SKIP": "mypy,rooms",
        },
        capture_output=True,
        text=True,
    )
    assert "ruff format" in done.stdout, done.stdout + done.stderr
    assert (clone / "course_utils" / "unformatted.py").read_text() == '"""A module."""\n\nANSWER = {}\n'
    assert done.returncode == 1

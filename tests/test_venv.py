"""The first thing a new student meets: the script that makes the environment, and its advice."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.lessons.lesson import COURSE


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    shutil.copytree(COURSE / ".make", tmp_path / ".make")
    (tmp_path / "bin").mkdir()
    return tmp_path


def fake(clone: Path, name: str, script: str) -> None:
    path = clone / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def make_venv(clone: Path, python: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [".make/venv.sh", python, ".venv"],
        cwd=clone,
        env={"PATH": f"{clone}/bin:/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def stopped(done: subprocess.CompletedProcess[str], clone: Path) -> str:
    """The advice of a step that failed, which leaves nothing that looks complete."""
    assert done.returncode == 1
    assert not (clone / ".venv" / ".complete").exists()
    assert "What to do:" in done.stderr
    return done.stderr


def test_a_python_that_is_not_there_is_named(clone: Path):
    assert "no Python called 'python3.99'" in stopped(make_venv(clone, "python3.99"), clone)


def test_a_python_that_is_too_old_says_its_version(clone: Path):
    fake(clone, "old", 'case "$1" in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac')
    assert "needs Python 3.11 to 3.14, and 'old' is Python 3.9.2" in stopped(make_venv(clone, "old"), clone)


def test_without_pip_and_venv_it_says_how_to_get_uv(clone: Path):
    fake(clone, "bare", 'case "$1" in -c) exit 0 ;; *) echo "No module named $2" >&2; exit 1 ;; esac')
    fake(clone, "uv", "exit 127")
    advice = stopped(make_venv(clone, "bare"), clone)
    assert "No module named pip" in advice
    assert "install python3-venv" in advice


def test_a_failed_installation_names_its_step(clone: Path):
    fake(clone, "new", 'case "$1" in --version) echo Python 3.12.0 ;; esac')
    fake(clone, "uv", 'case "$1" in pip) echo "no route to host" >&2; exit 2 ;; esac')
    advice = stopped(make_venv(clone, "new"), clone)
    assert "no route to host" in advice
    assert "requirements.txt could not be installed" in advice


def test_uv_is_fetched_when_it_is_absent(clone: Path):
    """The fetched uv does the rest; here it is a fake that leaves a note."""
    fake(clone, "uv", "exit 127")
    fake(clone, "new", _PYTHON_THAT_INSTALLS_A_UV)
    done = make_venv(clone, "new")
    assert done.returncode == 0, done.stderr
    assert "Fetching uv" in done.stdout
    assert (clone / ".venv" / ".complete").exists()


_PYTHON_THAT_INSTALLS_A_UV = """
case "$1 $2" in
"--version ") echo Python 3.12.0 ;;
"-m venv") exit 1 ;;
"-m pip")
    mkdir -p .tools/bin
    printf '#!/bin/sh\\nmkdir -p .venv\\n' > .tools/bin/uv
    chmod +x .tools/bin/uv ;;
esac
"""

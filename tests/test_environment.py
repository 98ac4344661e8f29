"""`environment.yml` gives conda users what `make lab` installs."""

import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import cache_from_source
from pathlib import Path

import pytest
import torch
import yaml
from packaging.requirements import Requirement

from tests.lessons.lesson import COURSE

LOCKS = [
    ("requirements.txt", ("test", "grading", "formats", "tokens", "book", "crops")),
    ("tests/bench/requirements.txt", ("bench", "crops")),
]


@pytest.fixture(scope="module")
def environment() -> list:
    return yaml.safe_load((COURSE / "environment.yml").read_text())["dependencies"]


def locked(file: str = "requirements.txt") -> dict[str, str]:
    """The versions in a lock file that apply to this machine."""
    lines = (COURSE / file).read_text().splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    apply = [one for one in wanted if not one.marker or one.marker.evaluate()]
    return {one.name: str(one.specifier).removeprefix("==") for one in apply}


def run_uv(*arguments: str) -> str:
    done = subprocess.run(["uv", *arguments], cwd=COURSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not shutil.which("uv"), reason="uv is not here to install with")
def test_the_pip_section_installs_the_locked_versions_and_this_package(environment: list, tmp_path: Path):
    [section] = [entry["pip"] for entry in environment if isinstance(entry, dict)]
    arguments = [word for line in section for word in shlex.split(line)]
    venv = str(tmp_path / "venv")
    run_uv("venv", "--python", sys.executable, venv)
    run_uv("pip", "install", "--python", venv, *arguments)
    installed = run_uv("pip", "freeze", "--python", venv).splitlines()
    [package] = [line for line in installed if line.startswith("-e ")]
    assert Path(package.removeprefix("-e ").removeprefix("file://")).samefile(COURSE)
    versions = dict(line.split("==") for line in installed if line != package)
    assert versions == locked()


def test_it_takes_the_python_versions_that_the_package_takes(environment: list):
    pyproject = (COURSE / "pyproject.toml").read_text()
    [python] = [entry for entry in environment if str(entry).startswith("python")]
    assert f'requires-python = "{python.removeprefix("python")}"' in pyproject


@pytest.mark.parametrize(("file", "extras"), LOCKS)
def test_a_lock_file_holds_what_the_package_asks_for_and_names_no_index(file: str, extras: tuple[str, ...]):
    versions = locked(file)
    project = tomllib.loads((COURSE / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    asked = [Requirement(one) for wanted in lists for one in wanted]
    asked = [one for one in asked if not one.marker or one.marker.evaluate()]
    refused = [str(one) for one in asked if not one.specifier.contains(versions[one.name])]
    assert not refused, "compile it again"
    assert "://" not in (COURSE / file).read_text()


@pytest.mark.proof
@pytest.mark.skipif(not shutil.which("uv"), reason="uv is not here to build with")
def test_the_wheel_holds_every_file_of_the_packages(tmp_path: Path):
    """Credits, the batch script, READMEs and templates, too, which commands read or name."""
    source = tmp_path / "source"
    subprocess.run(["git", "clone", "--quiet", COURSE, source], check=True)
    run_uv("build", "--quiet", "--wheel", "--out-dir", str(tmp_path), str(source))
    [wheel] = tmp_path.glob("*.whl")
    command = ["git", "-C", source, "ls-files", "course_utils", "data_setup"]
    tracked = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    with zipfile.ZipFile(wheel) as archive:
        assert set(tracked) <= set(archive.namelist())


def test_the_packages_are_compiled():
    """Or every start would do it where Python may not write: 6 s for torch."""
    assert Path(cache_from_source(torch.__file__)).exists()

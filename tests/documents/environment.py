"""An environment of a clone without a download: the packages are those of the tests' own environment.

`.make/venv.sh` makes it, with a uv that installs hard links.
"""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.browser.hub import public_python

UV = """#!{python}
import pathlib, shutil, subprocess, sys

venv, packages, commands = pathlib.Path(".venv").absolute(), {packages!r}, pathlib.Path({commands!r})
if sys.argv[1:2] == ["venv"]:
    subprocess.run([{python!r}, "-m", "venv", "--without-pip", venv], check=True)
elif sys.argv[1:3] == ["pip", "install"]:
    [folder] = venv.glob("lib/python3*/site-packages")
    # A sandbox shows the environment and nothing outside of it.
    copy = f"cp -al {{packages}}/. {{folder}} 2>/dev/null || cp -a {{packages}}/. {{folder}}"
    subprocess.run(copy, shell=True, check=True)
    for former in folder.glob("__editable__*"):
        former.unlink()
    (folder / "course.pth").write_text(f"{{pathlib.Path.cwd()}}\\n")
    for command in commands.iterdir():
        copy = venv / "bin" / command.name
        if copy.exists() or command.is_dir():
            continue
        data = command.read_bytes()
        if data.startswith(b"#!"):
            copy.write_bytes(data.replace(bytes(commands), bytes(venv / "bin")))
            copy.chmod(0o755)
        else:
            copy.hardlink_to(command.resolve())
    for folder in ("etc", "share"):
        shutil.copytree(commands.parent / folder, venv / folder, dirs_exist_ok=True)
"""


def python_of_all() -> Path:
    """The Python that other accounts can run, where it is of the version of the tests' own."""
    public, minor = public_python(), f"python3.{sys.version_info.minor}"
    return public if public and public.name == minor else Path(sys.executable).resolve()


def linking_uv(folder: Path, python: Path) -> Path:
    """Write a command `uv` that makes environments with hard links to the packages of this one."""
    folder.mkdir(parents=True, exist_ok=True)
    commands = Path(sysconfig.get_path("scripts"))
    text = UV.format(python=str(python), packages=sysconfig.get_path("purelib"), commands=str(commands))
    (folder / "uv").write_text(text)
    (folder / "uv").chmod(0o755)
    return folder


def install(clone: Path, tools: Path) -> None:
    """Make the environment of a clone, as its first `make` does."""
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    command = [".make/venv.sh", sys.executable, ".venv"]
    subprocess.run(command, cwd=clone, env=environment, check=True, stdout=subprocess.DEVNULL)

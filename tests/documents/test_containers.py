"""The recipes for containers install the locked versions, as `make lab` does."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tests.lessons.lesson import COURSE

RECIPE = (COURSE / "apptainer.def").read_text()
DEVCONTAINER = json.loads((COURSE / ".devcontainer" / "devcontainer.json").read_text())
LOCKED = (COURSE / "requirements.txt").read_text().splitlines()
INSTALL = ".make/venv.sh python3 /opt/env"  # which installs the versions of requirements.txt
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def section(name: str) -> list[str]:
    """Return the lines of a section of the recipe."""
    return [line.strip() for line in re.split(r"^%(?=\w)", RECIPE, flags=re.MULTILINE)
            if line.startswith(name) for line in line.splitlines()[1:] if line.strip()]  # fmt: skip


FILES = dict(line.split() for line in section("files"))


def test_the_recipe_installs_the_lock_and_copies_all_that_this_needs():
    assert INSTALL in section("post")
    project = tomllib.loads((COURSE / "pyproject.toml").read_text())
    packages = [name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]]
    metadata = [project["project"]["readme"], *project["project"]["license-files"]]
    assert set(FILES) == {".make", "pyproject.toml", "requirements.txt", *metadata, *packages}
    assert all((COURSE / source).exists() for source in FILES)


def test_the_development_container_installs_as_make_does_with_a_python_that_the_course_takes():
    words = DEVCONTAINER["postCreateCommand"].split()
    assert words[0] == "make"
    assert re.search(rf"^{words[1]}: \$\(READY\)", (COURSE / "Makefile").read_text(), re.MULTILINE)
    project = tomllib.loads((COURSE / "pyproject.toml").read_text())["project"]
    assert DEVCONTAINER["image"].rpartition(":")[2] in SpecifierSet(project["requires-python"])


def copy_files(root: Path) -> None:
    """Put the recipe's files into a root, with a lock of two packages in the place of 7 GB."""
    for source, target in FILES.items():
        place = root / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (COURSE / source).is_dir() else shutil.copy
        copy(COURSE / source, place)
    course = root / "opt/course"
    (course / "requirements.txt").write_text(
        "\n".join(line for line in LOCKED if line.startswith(("lazy-loader==", "packaging==")))
    )
    pyproject = course / "pyproject.toml"
    few = re.sub(r"^dependencies = \[.*?^\]", 'dependencies = ["lazy-loader"]', pyproject.read_text(),
                 flags=re.MULTILINE | re.DOTALL)  # fmt: skip
    pyproject.write_text(few)


@pytest.mark.proof
@pytest.mark.whole
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its root folder")
@pytest.mark.skipif(not shutil.which("mmdebstrap"), reason="mmdebstrap is not installed")
def test_the_commands_of_the_recipe_run_in_a_new_debian(tmp_path: Path):
    root = tmp_path / "root"
    subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", "bookworm", root], check=True)
    copy_files(root)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    shutil.copy(CERTIFICATES, root / "opt/certificates.crt")
    variables = {name: "/opt/certificates.crt" for name in ("PIP_CERT", "SSL_CERT_FILE")}
    index = {name: os.environ[name] for name in ("PIP_INDEX_URL", "UV_INDEX_URL") if name in os.environ}
    variables |= index | {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    inside = [
        "unshare",
        "--mount",
        "sh",
        "-ec",
        f'mount -t proc proc "{root}/proc"; exec chroot "{root}" "$@"',
    ]
    post = [*inside, "sh", "sh", "-ec", "\n".join(section("post"))]
    done = subprocess.run(post, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    ask = [
        *inside,
        "sh",
        "/opt/env/bin/python",
        "-c",
        "import course_utils, grading; print(grading.__file__)",
    ]
    told = subprocess.run(ask, env=variables, capture_output=True, text=True, check=True).stdout
    assert told.startswith("/opt/course/grading/")

"""An environment of a site is installed without network, from a folder that `make packages` has filled."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lessons.lesson import COURSE

INSTALL = """
import sys
from pathlib import Path
from grading.site import deployment, environment
environment._refuse_private = lambda python: None  # this account's own stands for it
root, source, packages = map(Path, sys.argv[1:])
site = deployment.Site(root, source, root / "python" / "bin" / "python3", packages=packages)
for name in ("require_usable_python", "install_own_python", "install_environment"):
    step = getattr(environment, name)
    print(*step(site), sep="\\n")
"""

# Says that it is 3.9, which is enough to fetch uv.
OLD = """#!/bin/sh
case "$*" in
--version) echo Python 3.9.2 ;;
*version_info*) exit 1 ;;
*) exec {python} "$@" ;;
esac
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The course, with two packages in the place of 7 GB."""
    folder = tmp_path / "source"
    subprocess.run(["git", "clone", "--quiet", COURSE, folder], check=True)
    shutil.copytree(COURSE / ".make", folder / ".make", dirs_exist_ok=True)
    lock, project = folder / "requirements.txt", folder / "pyproject.toml"
    lines = lock.read_text().splitlines()
    lock.write_text("\n".join(one for one in lines if one.startswith(("lazy-loader==", "packaging=="))))
    many = re.compile(r"^dependencies = \[.*?^\]", re.MULTILINE | re.DOTALL)
    project.write_text(many.sub('dependencies = ["lazy-loader"]', project.read_text()))
    return folder


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take the network away")
def test_a_site_is_installed_without_network_where_the_system_has_another_python(source, tmp_path):
    packages, root = tmp_path / "packages", tmp_path / "site"
    own = packages / "python" / "bin" / "python3"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys._base_executable)
    # It fetches uv, since the tools of this environment are not on the path.
    old = tmp_path / "bin" / "python3"
    old.parent.mkdir()
    old.write_text(OLD.format(python=sys._base_executable))
    old.chmod(0o755)
    fill = [".make/packages.sh", "python3", packages]
    plain = {**os.environ, "PATH": f"{old.parent}:/usr/bin:/bin"}
    done = subprocess.run(fill, cwd=source, env=plain, capture_output=True, text=True)
    if "could not" in done.stderr:
        pytest.skip(f"no package index is reached here: {done.stderr[-200:]}")
    root.mkdir()
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", INSTALL, root, source, packages],
        cwd=COURSE,
        env={"PATH": f"{old.parent}:/usr/bin:/bin", "UV_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert f"installed the environment {root}/env" in done.stdout
    ask = [root / "env/bin/python", "-c", "import grading; print(grading.__file__)"]
    told = subprocess.run(ask, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert told.startswith(str(root / "env"))

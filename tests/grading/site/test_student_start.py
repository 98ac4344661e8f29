"""`start`, as a student types it, with the environment of the tests in the place of the site's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grading.site import templates
from grading.site.deployment import Site
from grading.site.student_start import publish_to_students
from tests.grading.site.test_student_repository import clone_course, git
from tests.lessons.lesson import LESSONS

NOTEBOOK = Path("notebooks", LESSONS[0].name, f"{LESSONS[0].name}.ipynb")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path / "a site", clone_course(tmp_path / "course"), Path(sys.executable))
    site.root.mkdir()
    site.environment.symlink_to(sys.prefix)
    site.source.rename(site.course)
    kernel = site.root / "jupyter" / "kernels" / templates.KERNEL
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(templates.render(site.root, site.course, ())[KERNEL_FILE])
    list(publish_to_students(site))
    return site


KERNEL_FILE = f"jupyter/kernels/{templates.KERNEL}/kernel.json"


def start(site: Site, home: Path) -> subprocess.CompletedProcess[str]:
    home.mkdir(exist_ok=True)
    others = home.with_name("module of another Python")
    others.mkdir(exist_ok=True)
    (others / "json.py").write_text("raise ImportError")
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(others)}
    return subprocess.run([site.start], env=environment, capture_output=True, text=True)


def test_start_brings_course_and_kernel_and_later_versions_of_them(site, tmp_path):
    home = tmp_path / "home"
    done = start(site, home)
    assert done.returncode == 0, done.stderr
    course = home / "JHS_notebooks" / "feeding-the-gpu"
    assert course.stat().st_mode & 0o077 == 0
    kernel = json.loads((home / ".local/share/jupyter/kernels/feeding-the-gpu/kernel.json").read_text())
    assert kernel["argv"][0] == str(site.environment / "bin" / "python")
    assert kernel["env"] == {"TEACHER_DIR": str(site.root), "PYTHONPATH": ""}
    asked = {
        json.loads(path.read_text())["metadata"]["kernelspec"]["name"] for path in course.rglob("*.ipynb")
    }
    assert asked == {"feeding-the-gpu"}

    assert list(publish_to_students(site)) == []
    (course / NOTEBOOK).write_text((course / NOTEBOOK).read_text().replace("# YOUR CODE HERE", "MINE = 1", 1))
    (site.course / "course_utils" / "new.py").write_text("")
    git(site.course, "add", ".")
    git(site.course, "commit", "-qm", "A newer version")
    [change] = publish_to_students(site)
    assert "committed version" in change
    assert start(site, home).returncode == 0
    assert (course / "course_utils" / "new.py").exists()
    assert "MINE = 1" in (course / NOTEBOOK).read_text()


def test_clones_use_the_environment_of_the_site_and_never_install_one(site):
    environment = {name: os.environ[name] for name in ("HOME", "PATH")}
    words = ["make", "--dry-run", "submit", "LESSON=00"]
    told = subprocess.run(words, cwd=site.students, env=environment, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert f'cd "{site.environment}"' in told.stdout
    assert "venv.sh" not in told.stdout


def test_what_is_in_the_way_is_named(site, tmp_path):
    home = tmp_path / "home"
    (home / "JHS_notebooks" / "feeding-the-gpu").mkdir(parents=True)
    assert "feeding-the-gpu is not the course: give it another name" in start(site, home).stderr
    site.environment.unlink()
    assert "does not run on" in start(site, home).stderr

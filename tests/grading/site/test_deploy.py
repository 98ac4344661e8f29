"""Deploying a course: folders, modes and configuration files; without the environment and the data."""

import dataclasses
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from grading.site import deploy, environment, templates

REPOSITORY = Path(__file__).parents[3]
ELSEWHERE = (
    deploy._require_reachable,
    environment.require_usable_python,
    environment.install_own_python,
    environment.install_environment,
    deploy._make_data,
    deploy.publish_to_students,
)
OFFLINE = tuple(step for step in deploy.STEPS if step not in ELSEWHERE)


@pytest.fixture
def source(tmp_path):
    """A clone of a course that is only its configuration."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "nbgrader_config.py").write_text('c.CourseDirectory.course_id = "toy"\n')
    for command in ("init -q", "add .", "-c user.name=t -c user.email=t@example.org commit -qm toy"):
        subprocess.run(["git", "-C", folder, *command.split()], check=True)
    return folder


@pytest.fixture
def toy(tmp_path, source, monkeypatch):
    monkeypatch.setattr(deploy, "STEPS", OFFLINE)
    return deploy.Site(tmp_path / "teacher", source, Path("/usr/bin/python3"), teachers=("ann",))


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_deployment_is_idempotent(toy):
    assert len(list(deploy.set_up(toy))) > 5
    assert list(deploy.set_up(toy)) == []


def test_differences_are_repaired_and_reported(toy):
    list(deploy.set_up(toy))
    inbound = toy.root / "exchange" / "toy" / "inbound"
    inbound.chmod(0o777)
    (toy.root / "jupyterhub_config.py").write_text("")
    changes = list(deploy.set_up(toy))
    assert [change.split()[0] for change in changes] == ["set", "wrote"]
    assert mode(inbound) == 0o3733


def test_exchange_lets_students_submit_but_not_list_or_remove(toy):
    list(deploy.set_up(toy))
    exchange = toy.root / "exchange"
    assert mode(exchange) == 0o1777
    assert mode(exchange / "toy" / "inbound") & 0o7 == 0o3
    assert mode(exchange / "toy" / "inbound") & stat.S_ISVTX
    assert mode(toy.course) == 0o700


def test_students_get_no_formgrader_and_frames_of_their_own_server_only(toy):
    list(deploy.set_up(toy))
    student = toy.root / "jupyter" / "student"
    server = json.loads((student / "jupyter_server_config.json").read_text())["ServerApp"]
    assert server["jpserver_extensions"]["nbgrader.server_extensions.formgrader"] is False
    assert "frame-ancestors 'self'" in server["tornado_settings"]["headers"]["Content-Security-Policy"]
    pages = json.loads((student / "labconfig" / "page_config.json").read_text())["disabledExtensions"]
    assert pages["@jupyter/nbgrader:formgrader"]


def test_teachers_server_loads_no_picture_from_elsewhere(toy):
    list(deploy.set_up(toy))
    config = (toy.root / "jupyter" / "teacher" / "jupyter_server_config.json").read_text()
    policy = json.loads(config)["ServerApp"]["tornado_settings"]["headers"]["Content-Security-Policy"]
    assert {"frame-ancestors 'self'", "img-src 'self' data: blob:", "object-src 'none'"} < set(
        policy.split("; ")
    )


def test_files_in_the_course_folder_are_kept(toy):
    list(deploy.set_up(toy))
    (toy.course / "gradebook.db").write_text("marks")
    list(deploy.set_up(toy))
    assert (toy.course / "gradebook.db").read_text() == "marks"


def commit(folder: Path, text: str) -> None:
    """Change the configuration of a clone in a new commit."""
    with (folder / "nbgrader_config.py").open("a") as file:
        file.write(f"# {text}\n")
    command = "-c user.name=t -c user.email=t@example.org commit -qam new"
    subprocess.run(["git", "-C", folder, *command.split()], check=True)


def test_a_newer_version_reaches_the_course_folder_and_files_of_the_course_stay(toy):
    list(deploy.set_up(toy))
    (toy.course / "gradebook.db").write_text("marks")
    commit(toy.source, "newer")
    tag = "-c user.name=t -c user.email=t@example.org tag -a v1.1.0 -m new"
    subprocess.run(["git", "-C", toy.source, *tag.split()], check=True)
    assert list(deploy.set_up(toy)) == [f"updated {toy.course} to v1.1.0"]
    assert "newer" in (toy.course / "nbgrader_config.py").read_text()
    assert (toy.course / "gradebook.db").read_text() == "marks"


def test_an_older_version_that_is_checked_out_reaches_it_too(toy):
    commit(toy.source, "newer")
    list(deploy.set_up(toy))
    subprocess.run(["git", "-C", toy.source, "checkout", "-q", "HEAD~1"], check=True)
    list(deploy.set_up(toy))
    assert "newer" not in (toy.course / "nbgrader_config.py").read_text()


def test_changes_in_the_course_folder_stop_an_update(toy):
    list(deploy.set_up(toy))
    commit(toy.source, "newer")
    (toy.course / "nbgrader_config.py").write_text("mine")
    with pytest.raises(deploy.DeployError, match=r"edited files \(nbgrader_config.py\)"):
        list(deploy.set_up(toy))
    assert (toy.course / "nbgrader_config.py").read_text() == "mine"


def test_commits_in_the_course_folder_stop_an_update(toy):
    list(deploy.set_up(toy))
    commit(toy.source, "newer")
    commit(toy.course, "mine")
    with pytest.raises(deploy.DeployError, match="has commits that"):
        list(deploy.set_up(toy))


@pytest.fixture
def installing(toy, monkeypatch):
    """Install the environment of the toy site; returns what it says changed, and the commands of uv."""
    called = []
    monkeypatch.setattr(environment, "run", lambda *command: called.append(" ".join(map(str, command))) or "")
    monkeypatch.setattr(environment, "_difference", lambda site: "")
    monkeypatch.setattr(environment.shutil, "which", lambda *_, **__: "uv")
    (toy.source / "requirements.txt").write_text("numpy==2.0\n")
    toy.environment.mkdir(parents=True)

    def install() -> tuple[list[str], list[str]]:
        called.clear()
        changes = list(environment.install_environment(toy))
        return changes, [one for one in called if one.startswith("uv")]

    return install


def test_packages_stay_where_only_the_course_has_changed(toy, installing):
    changes, commands = installing()
    assert changes == [f"installed the environment {toy.environment}"]
    assert [command.split()[1] for command in commands] == ["venv", "pip"]
    assert installing() == ([], [])
    (toy.source / "nbgrader_config.py").write_text("edited, not committed")
    changes, commands = installing()
    assert changes == [f"updated the course in the environment {toy.environment}"]
    assert "--no-deps --reinstall-package feeding-the-gpu" in commands[0]
    for lock in ("numpy==2.0\ntorch==2.15\n", "numpy==2.0\n"):  # one more package, and one fewer
        (toy.source / "requirements.txt").write_text(lock)
        assert [command.split()[1] for command in installing()[1]] == ["venv", "pip"]


def test_environment_is_installed_again_where_it_holds_another_course_than_its_mark_says(
    toy, installing, monkeypatch
):
    installing()
    differences = iter(["it imports the course from /home/ann", ""])
    monkeypatch.setattr(environment, "_difference", lambda site: next(differences))
    changes, _ = installing()
    assert changes == [f"updated the course in the environment {toy.environment}"]


def test_environment_that_stays_different_is_an_error(installing, monkeypatch):
    monkeypatch.setattr(environment, "_difference", lambda site: "paths.py differs from its source")
    with pytest.raises(deploy.DeployError, match=r"not what was installed: paths\.py differs"):
        installing()


def test_environment_belongs_to_the_site_and_is_newer_than_what_make_compares_it_with(toy, installing):
    installing()
    mark = toy.environment / environment.READY
    assert mark.read_text().splitlines()[0] == str(toy.root)
    os.utime(mark, (0, 0))
    installing()
    assert mark.stat().st_mtime > (toy.source / "requirements.txt").stat().st_mtime - 1


@pytest.mark.parametrize(
    ("place", "difference"),
    [
        ("env/course_utils", ""),
        ("home/course_utils", "it imports the course from"),
        ("", "it cannot import the course"),
    ],
)
def test_what_is_installed_is_told_by_the_environments_own_python(toy, place, difference):
    """A fake Python that prints where it imports the course from."""
    for folder in (toy.source, toy.root / place.partition("/")[0] if place else toy.source):
        (folder / "course_utils").mkdir(parents=True, exist_ok=True)
        (folder / "course_utils" / "paths.py").write_text("FORMS = ()\n")
    python = toy.environment / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(f"#!/bin/sh\necho {toy.root / place}\n" if place else "#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    assert environment._difference(toy).startswith(difference)
    assert bool(environment._difference(toy)) == bool(difference)
    if not difference:
        (toy.root / place / "paths.py").write_text("FORMS = None\n")
        assert environment._difference(toy).endswith("paths.py differs from its source")


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("echo 3 9; echo /usr", "needs Python 3.11 to 3.14, and .* is 3.9"),
        ("echo 3 15; echo /usr", "is 3.15"),
        ("", "there is no"),
        (
            "printf '3 12\\n/sw/python\\n/usr/lib/a.so\\n/sw/libffi/b.so\\n'",
            "outside of /sw/python, .*: /sw/libffi/b.so;",
        ),
        # What a Python says whose library only a module's LD_LIBRARY_PATH finds.
        ('[ "$LD_LIBRARY_PATH" ] || exit 127; echo 3 12', "does not run without the modules of this shell"),
    ],
)
def test_unusable_python_is_refused_before_anything_is_written(
    tmp_path, source, capsys, monkeypatch, version, message
):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/of/a/module")
    python = Path(tempfile.mkdtemp(dir="/var/tmp")) / "python"  # of a folder that everybody can enter
    python.parent.chmod(0o755)
    if version:
        python.write_text(f"#!/bin/sh\n{version}\n")
        python.chmod(0o755)
    root = tmp_path / "teacher"
    assert deploy.main([str(root), "--source", str(source), "--python", str(python)]) == 1
    shutil.rmtree(python.parent)
    assert re.search(f"Stopped: .*{message}", capsys.readouterr().err)
    assert not root.exists()


def test_folder_that_others_cannot_reach_is_refused(toy):
    toy.root.parent.chmod(0o700)
    with pytest.raises(deploy.DeployError, match=f"only its owner can enter {toy.root.parent}: .* chmod o"):
        list(deploy._require_reachable(toy))


def packages(folder: Path) -> Path:
    """A folder of packages with a Python that only tells its version."""
    python = folder / "python" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho 3 12; echo /usr\n")
    python.chmod(0o755)
    return folder


def test_a_site_gets_a_python_of_its_own_from_the_folder_of_packages(toy):
    own = dataclasses.replace(toy, python=toy.own_python, packages=packages(toy.source / "packages"))
    toy.root.mkdir()
    list(environment.require_usable_python(own))
    assert len(list(environment.install_own_python(own))) == 1
    assert own.python.read_text() == (own.packages / "python/bin/python3").read_text()
    assert list(environment.install_own_python(own)) == []


def test_a_site_gets_a_python_of_its_own_that_uv_fetches(toy, monkeypatch):
    """A fake uv that puts a file where the real one puts a Python."""

    def fetch(*command):
        if command[0] == "uv":
            packages(command[-2]).joinpath("python").rename(command[-2] / "cpython-3.12.9-linux")

    monkeypatch.setattr(environment, "run", fetch)
    monkeypatch.setattr(environment.shutil, "which", lambda *_, **__: "uv")
    toy.root.mkdir()
    own = dataclasses.replace(toy, python=toy.own_python)
    list(environment.require_usable_python(own))
    list(environment.install_own_python(own))
    assert [path.name for path in toy.root.iterdir()] == ["python"]
    assert own.python.exists()


def test_packages_are_installed_from_their_folder_alone(toy, installing):
    object.__setattr__(toy, "packages", Path("/wheels"))
    _, commands = installing()
    assert "--offline --no-index --find-links /wheels" in commands[-1]


def test_folder_of_another_account_is_refused(toy, monkeypatch):
    list(deploy.set_up(toy))
    monkeypatch.setattr(deploy.os, "geteuid", lambda: 4242)
    with pytest.raises(deploy.DeployError, match="another account"):
        list(deploy.set_up(toy))


def test_python_in_a_private_folder_is_refused(tmp_path):
    private = tmp_path / "home"
    private.mkdir(mode=0o700)
    (private / "python").touch(0o755)
    with pytest.raises(deploy.DeployError, match="--python"):
        environment._refuse_private(private / "python")


def test_link_contains_repository_and_lesson(toy):
    here = deploy.Site(toy.root, toy.source, toy.python, "https://hub/", "https://git.example/course.git")
    assert here.link("01_jpeg_vs_zip") == (
        "https://hub/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgit.example%2Fcourse.git"
        "&targetpath=course&urlpath=lab%2Ftree%2Fcourse%2Fnotebooks%2F01_jpeg_vs_zip"
    )
    assert here.link().endswith("%2Fnotebooks%2Findex.ipynb")


def test_course_id_is_read_from_the_configuration():
    assert templates.course_id(REPOSITORY) == "feeding-the-gpu"


def test_command_prints_changes_and_what_students_type(toy, capsys):
    arguments = [str(toy.root), "--source", str(toy.source)]
    assert deploy.main(arguments) == 0
    out = capsys.readouterr().out
    assert "cloned the course" in out
    assert out.endswith(f"students type {toy.root}/start\n")
    assert deploy.main([*arguments, "--hub", "https://hub", "--repository", "https://git/course"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("no changes")
    assert "git-pull?repo=" in out

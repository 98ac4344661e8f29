"""The first commands of a new student: the environment, the options of `make lab`, and their advice."""

import os
import shutil
import subprocess
import sys
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


def make_venv(clone: Path, python: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [".make/venv.sh", python, ".venv"],
        cwd=clone,
        env={"PATH": f"{clone}/bin:/usr/bin:/bin", **variables},
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


def test_missing_python_is_named(clone: Path):
    assert "no Python called 'python3.99'" in stopped(make_venv(clone, "python3.99"), clone)


def test_old_python_is_refused_with_its_version(clone: Path):
    fake(clone, "old", 'case "$1" in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac')
    assert "needs Python 3.11 to 3.14, and 'old' is Python 3.9.2" in stopped(make_venv(clone, "old"), clone)


def test_shim_of_a_version_that_is_not_installed_is_named(clone: Path):
    fake(clone, "shim", "echo 'pyenv: shim: command not found' >&2; exit 127")
    assert "'shim' does not run: pyenv: shim: command not found" in stopped(make_venv(clone, "shim"), clone)


def test_without_pip_and_venv_the_advice_says_how_to_get_uv(clone: Path):
    fake(
        clone,
        "bare",
        'case "$1" in -c | --version) exit 0 ;; *) echo "No module named $2" >&2; exit 1 ;; esac',
    )
    fake(clone, "uv", "exit 127")
    advice = stopped(make_venv(clone, "bare"), clone)
    assert "No module named pip" in advice
    assert "install python3-venv" in advice


def test_failed_installation_names_its_step(clone: Path):
    fake(clone, "new", 'case "$1" in --version) echo Python 3.12.0 ;; esac')
    fake(clone, "uv", 'case "$1" in pip) echo "no route to host" >&2; exit 2 ;; esac')
    advice = stopped(make_venv(clone, "new"), clone)
    assert "no route to host" in advice
    assert "requirements.txt could not be installed" in advice


def test_without_the_index_of_pytorch_the_advice_is_to_leave_torch_cpu_out(clone: Path):
    """uv takes these wheels from there, whatever the package index is."""
    fake(clone, "new", 'case "$1" in --version) echo Python 3.12.0 ;; esac')
    fake(clone, "uv", 'case "$1" in pip) echo "$@" >&2; exit 2 ;; esac')
    (clone / "requirements.txt").write_text("nvidia-cublas==1\nnvidia-ml-py==2\ntorch==3\n")
    done = make_venv(clone, "new", TORCH="cpu")
    advice = stopped(done, clone)
    assert "about 2 GB" in done.stdout
    assert "--torch-backend=cpu" in advice
    assert "leave TORCH=cpu out, which needs https://download.pytorch.org" in advice
    other = stopped(make_venv(clone, "new", TORCH="gpu"), clone)
    assert other.startswith("\nStopped: there is no TORCH=gpu.\n")


def test_uv_is_fetched_when_it_is_absent(clone: Path):
    """The fetched uv does the rest; here it is a fake that leaves a note."""
    fake(clone, "uv", "exit 127")
    fake(clone, "new", _PYTHON_THAT_INSTALLS_A_UV)
    done = make_venv(clone, "new")
    assert done.returncode == 0, done.stderr
    assert "Fetching uv" in done.stdout
    assert (clone / ".venv" / ".complete").read_text() == f"{clone.resolve()}\n"


def test_python_of_its_own_is_fetched_whatever_the_systems_version_is(clone: Path):
    fake(clone, "python3", 'case "$1" in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac')
    fake(clone, "fetched", "echo Python 3.12.9")
    fake(
        clone,
        "uv",
        'echo "$@" >&2; case "$1 $2" in "python find") echo fetched ;; venv*) mkdir -p .venv ;; esac',
    )
    done = make_venv(clone, "own")
    assert done.returncode == 0, done.stderr
    assert "python install --quiet --no-bin 3.12" in done.stderr
    assert f"venv --quiet --allow-existing --python {clone}/bin/fetched .venv" in done.stderr


def test_packages_for_an_old_python_need_one_that_is_fetched_or_in_the_folder(clone: Path):
    fake(clone, "python3", 'case "$1" in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac')
    fake(clone, "uv", '[ "$1 $2" != "python install" ]')  # without GitHub
    done = subprocess.run(
        [".make/packages.sh", "python3", "wheels"],
        cwd=clone,
        env={"PATH": f"{clone}/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "no Python could be fetched" in done.stderr
    assert "PYTHON=python3.12; or unpack one into the folder, as python" in done.stderr
    assert list((clone / "wheels").iterdir()) == []


TINY = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "tiny"
version = "1"
dependencies = ["lazy-loader"]
[tool.setuptools]
packages = []
"""


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take the network away")
def test_without_network_all_comes_from_the_folder_of_packages(clone: Path):
    """The folder is filled from the package index; its Python, which comes from elsewhere, is this one."""
    (clone / "pyproject.toml").write_text(TINY)
    lock = (COURSE / "requirements.txt").read_text()
    tiny = [line for line in lock.splitlines() if line.startswith(("lazy-loader==", "packaging=="))]
    (clone / "requirements.txt").write_text("\n".join(tiny))
    fake(clone, "python3", 'case "$1" in --version) echo Python 3.9.2 ;; *) exit 1 ;; esac')
    python = clone / "wheels" / "python" / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys._base_executable)
    fill = [".make/packages.sh", sys._base_executable, "wheels"]
    done = subprocess.run(fill, cwd=clone, capture_output=True, text=True)
    if "could not fetch" in done.stderr or "could not be fetched" in done.stderr:
        pytest.skip(f"no package index is reached here: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    assert {path.name.split("-")[0] for path in (clone / "wheels").glob("*.whl")} == {
        "lazy_loader", "packaging", "setuptools", "uv",
    }  # fmt: skip
    shutil.rmtree(clone / ".tools", ignore_errors=True)
    install = ["unshare", "--net", ".make/venv.sh", "python3", ".venv"]
    settings = {
        "PATH": f"{clone}/bin:/usr/bin:/bin",
        "PACKAGES": "wheels",
        "UV_CACHE_DIR": str(clone / "cache"),
    }
    done = subprocess.run(install, cwd=clone, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    subprocess.run([clone / ".venv/bin/python", "-c", "import lazy_loader"], check=True)


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


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A clone in a folder whose name has a space, with an environment that only prints what it is told."""
    clone = tmp_path / "my course"
    shutil.copytree(COURSE / ".make", clone / ".make")
    for name in ("Makefile", "pyproject.toml", "requirements.txt"):
        shutil.copyfile(COURSE / name, clone / name)
    lesson = clone / "notebooks" / "00_first" / "00_first.ipynb"
    lesson.parent.mkdir(parents=True)
    lesson.touch()
    commands = clone / ".venv" / "bin"
    commands.mkdir(parents=True)
    for name in ("jupyter", "python"):
        (commands / name).write_text(f'#!/bin/sh\n[ "$1" = -c ] && echo 3.11 || echo "{name} $@"\n')
        (commands / name).chmod(0o755)
    (clone / ".venv" / ".complete").touch()
    return clone


def make(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=clone,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def test_lab_starts_in_a_folder_with_a_space(installed: Path):
    done = make(installed, "lab", "PORT=8899", "BROWSER=no")
    assert done.returncode == 0, done.stderr
    photos, tokens, page, script, lab = done.stdout.splitlines()
    assert photos == "python -m data_setup photos --if-missing"
    assert tokens == "python -m data_setup tokens --if-missing"
    assert page == "python -m course_utils.start_page --write notebooks"
    assert "notebooks/my_files/train.py" in script
    assert f"--ServerApp.root_dir={installed}" in lab
    assert lab.endswith(f"--LabApp.default_url=/lab/tree/{FIRST}")  # no page was written here


@pytest.mark.parametrize("place", ["an environment", "{clone}/an environment"])
def test_lab_starts_with_an_environment_whose_name_has_a_space(installed: Path, place: str):
    (installed / ".venv").rename(installed / "an environment")
    done = make(installed, "lab", f"VENV={place.format(clone=installed)}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("python -m data_setup photos --if-missing\n")


def test_environment_whose_name_has_a_space_is_made(installed: Path):
    (installed / ".make" / "venv.sh").write_text('#!/bin/sh\nprintf "%s|" "$@"\nexit 1\n')
    done = make(installed, "lab", "VENV=an environment", "PYTHON=python3")
    assert done.returncode != 0
    assert done.stdout == "python3|an environment|"
    for name in ("requirements.txt", "ffcv.txt"):
        (installed / "tests" / "bench" / name).parent.mkdir(parents=True, exist_ok=True)
        (installed / "tests" / "bench" / name).touch()
    planned = make(installed, "--dry-run", "bench", "VENV=an environment")
    assert './.make/ffcv.sh "an environment-bench"' in planned.stdout


FIRST = "notebooks/00_first/00_first.ipynb"


@pytest.mark.parametrize(("options", "opened"), [([], "notebooks/index.ipynb"), (["LESSON=00"], FIRST)])
def test_lab_opens_the_start_page_or_the_lesson_that_is_named(installed: Path, options, opened: str):
    (installed / "notebooks" / "index.ipynb").touch()
    done = make(installed, "serve", *options)
    assert done.stdout.rstrip().endswith(f"--LabApp.default_url=/lab/tree/{opened}")


def test_lab_starts_where_the_start_page_cannot_be_written(installed: Path):
    (installed / ".venv" / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    done = make(installed, "serve")
    assert done.returncode == 0
    assert done.stdout.rstrip().endswith(f"--LabApp.default_url=/lab/tree/{FIRST}")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("PORT=abc", "PORT=abc is not a port"),
        ("PORT=99999", "PORT=99999 is not a port"),
        ("PORT=80", "PORT=80 is not a port"),
        ("PORT=", "PORT= is not a port"),
        ("LESSON=9", "there is no lesson 9.\nWhat to do: choose one of 00_first"),
        ("PYTHON=other", "has Python 3.11, and PYTHON=other is Python 3.99"),
    ],
)
def test_impossible_option_is_refused_before_any_work(
    installed: Path, monkeypatch, option: str, message: str
):
    (installed / "bin").mkdir()
    fake(installed, "other", "echo 3.99")
    monkeypatch.setenv("PATH", str(installed / "bin"), prepend=":")
    done = make(installed, "lab", option)
    assert done.returncode != 0
    assert message in done.stderr
    assert "What to do:" in done.stderr
    assert not done.stdout


def test_start_page_that_git_tracks_stays_as_it_is(installed: Path):
    """In the students' repository, where a lesson that was opened is the only change."""
    (installed / "notebooks" / "index.ipynb").write_text("the page of the repository")
    for words in ("init -q", "add notebooks", "-c user.name=t -c user.email=t@example.org commit -qm page"):
        subprocess.run(["git", *words.split()], cwd=installed, check=True)
    assert "start_page --write" not in make(installed, "serve").stdout
    subprocess.run(["git", "rm", "-q", "--cached", "notebooks/index.ipynb"], cwd=installed, check=True)
    assert "start_page --write" in make(installed, "serve").stdout


@pytest.mark.parametrize("words", [["lab"], ["serve"]])
def test_home_that_cannot_be_written_is_named_before_any_work(installed: Path, monkeypatch, words):
    (installed / "home").touch()  # root may write into any folder, but not below a file
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(installed / "home" / "ann"))
    done = make(installed, *words)
    assert done.returncode != 0
    assert f"{installed}/home/ann cannot be written" in done.stderr
    assert "another port" not in done.stderr
    assert not done.stdout


@pytest.mark.parametrize("target", ["data", "grade", "clean"])
def test_environment_of_another_folder_is_neither_installed_nor_removed(installed: Path, target: str):
    """As that of a site, after a newer version was checked out beside it."""
    mark = installed / ".venv" / ".complete"
    mark.write_text("/shared/teacher\nrevision\nnumpy==2.0\n")
    os.utime(mark, (0, 0))
    done = make(installed, target)
    assert done.returncode != 0
    assert "the environment .venv belongs to /shared/teacher" in done.stderr
    assert "python -m grading.site TEACHER_DIR" in done.stderr
    assert mark.read_text().startswith("/shared/teacher\n")


def test_environment_of_another_folder_serves_while_it_is_up_to_date(installed: Path):
    (installed / ".venv" / ".complete").write_text("/shared/teacher\n")
    assert make(installed, "grade").stdout.startswith("python -m grading grade")


def test_clean_leaves_data_and_lessons(installed: Path):
    (installed / "data").mkdir()
    assert make(installed, "clean").returncode == 0
    assert not (installed / ".venv").exists()
    assert (installed / "data").exists()
    assert (installed / "notebooks" / "00_first" / "00_first.ipynb").exists()

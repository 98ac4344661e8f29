"""Control groups of a sandbox: where they are made, that they limit, and that none stays behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grading.sandbox import server_process
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends, cgroups
from grading.sandbox.isolation.limits import TOO_MUCH_MEMORY, Limits
from grading.sandbox.steps import Step

COURSE = Path(__file__).parents[3]
LIMITS = Limits(memory_mb=500, processes=100)
KIND = next((kind for kind in backends.KINDS if backends.works(kind)), "none")


def _makes_groups() -> bool:
    """Say whether this account gets groups of its own on this machine, of whatever version."""
    group = cgroups.create_group(LIMITS)
    try:
        return bool(group.folders)
    finally:
        group.remove()


group_of_this_machine = pytest.mark.skipif(
    KIND == "none" or not _makes_groups(), reason="this account may not create control groups here"
)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders of all groups made."""
    folders: list[Path] = []

    def create(limits: Limits) -> cgroups.Group:
        group = cgroups.create_group(limits)
        assert all(folder.exists() for folder in group.folders)
        folders.extend(group.folders)
        return group

    monkeypatch.setattr(server_process, "create_group", create)
    return folders


@group_of_this_machine
def test_group_is_gone_when_the_sandbox_has_ended_with_its_processes(made):
    with Sandbox(KIND, (), LIMITS) as sandbox:
        sandbox.run([Step(0, "import os\nfor n in range(9):\n    os.fork()")], {})
    assert made
    assert not [folder for folder in made if folder.exists()]


@group_of_this_machine
def test_groups_of_a_killed_grader_are_removed_by_the_next():
    code = (
        "import os\nfrom grading.sandbox.isolation.cgroups import create_group\n"
        "from grading.sandbox.isolation.limits import Limits\n"
        "print(*create_group(Limits()).folders, flush=True)\nos.kill(os.getpid(), 9)"
    )
    left = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=COURSE).stdout
    folders = [Path(word) for word in left.split()]
    assert folders
    assert all(folder.exists() for folder in folders)
    cgroups.create_group(LIMITS).remove()
    assert not any(folder.exists() for folder in folders)


HOG = "import os\nfor n in range(8):\n    os.write(os.memfd_create(str(n)), bytes(50 * 2**20))"
SMALL = Limits(cell_seconds=20, memory_mb=300 - cgroups.SERVER_MB)


@group_of_this_machine
def test_memory_of_the_whole_submission_is_limited_by_the_kernel(made):
    with Sandbox(KIND, (), SMALL) as sandbox:
        replies = sandbox.run([Step(0, HOG), Step(1, "print('next')")], {})
    assert made
    assert (replies[0].reason, replies[1].text) == (TOO_MUCH_MEMORY, "next\n")


def hierarchy(root: Path, *folders: str, controllers: str = "memory pids") -> None:
    """Write a version 2 hierarchy whose groups allow `controllers` to their children."""
    for folder in (root, *(root / name for name in folders)):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.subtree_control").write_text(controllers)


@pytest.fixture
def version_2(tmp_path, monkeypatch) -> Path:
    """An imitation of the version 2 interface, in which the grader is in the group /user/job."""
    monkeypatch.setattr(cgroups, "ROOT", tmp_path / "root")
    monkeypatch.setattr(cgroups, "_own_groups", lambda pid: {"": "/user/job"})
    hierarchy(tmp_path / "root", "user")
    (tmp_path / "root/user/job").mkdir()
    return tmp_path / "root"


def test_version_2_group_lies_beside_the_graders_own(version_2):
    group = cgroups.create_group(LIMITS)
    [folder] = group.folders
    assert folder.parent == version_2 / "user"
    assert (folder / "memory.max").read_text() == str((500 + cgroups.SERVER_MB) * 2**20)
    assert (folder / "pids.max").read_text() == "132"


def test_group_that_cannot_be_joined_is_not_used(version_2, monkeypatch):
    monkeypatch.setattr(cgroups, "_JOIN", "exit 1")
    monkeypatch.setattr(cgroups.Group, "remove", lambda self: None)
    assert not cgroups.create_group(LIMITS)


SYSTEMD_RUN = """#!/bin/sh
echo "$@" >> {log}
for word in "$@"; do case $word in MemoryMax=*) echo "{limit}";; esac; done
"""


@pytest.mark.parametrize("limited", [True, False])
def test_without_a_group_of_its_own_a_grader_asks_systemd(tmp_path, monkeypatch, limited):
    """A scope is used only if the memory limit arrives: systemd ignores what it may not set."""
    monkeypatch.setattr(cgroups, "_choices", lambda memory, processes: [])
    cgroups._limits_memory.cache_clear()
    script = tmp_path / "systemd-run"
    limit = (LIMITS.memory_mb + cgroups.SERVER_MB) * 2**20 if limited else "max"
    script.write_text(SYSTEMD_RUN.format(log=tmp_path / "log", limit=limit))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    group = cgroups.create_group(LIMITS)
    assert bool(group) == limited
    assert "--scope" in (tmp_path / "log").read_text()
    if limited:
        assert group.wrap(["program"])[-2:] == ["--", "program"]


# The kernel's own rule, with a controller that version 2 has on this machine in place of memory.
BESIDE = """
import os, sys
from pathlib import Path
from grading.sandbox.isolation import cgroups
top = Path(sys.argv[1])
job = top / "job"
job.mkdir(parents=True)
(top.parent / "cgroup.subtree_control").write_text("+hugetlb")
(job / "cgroup.procs").write_text(str(os.getpid()))
cgroups.ROOT, cgroups.CONTROLLERS = top.parent, ("hugetlb",)
cgroups._write = lambda folder, settings: None
group = cgroups.create_group(cgroups.Limits())
print([str(folder.relative_to(top)).split("-")[0] for folder in group.folders])
group.remove()
(top.parent / "cgroup.procs").write_text(str(os.getpid()))
job.rmdir()
top.rmdir()
(top.parent / "cgroup.subtree_control").write_text("-hugetlb")
"""


# In a group of its own, as a job of Slurm or a login session is, which limits its children's memory.
IN_A_JOB = """
import os, sys
from pathlib import Path
from grading.sandbox import server_process
from grading.sandbox.client import Sandbox
from grading.sandbox.steps import Step
from grading.sandbox.isolation import cgroups
from tests.grading.sandbox.test_cgroups import HOG, KIND, SMALL
top = Path(sys.argv[1])
(top / "job" / "cgroup.procs").write_text(str(os.getpid()))
groups = []
make = server_process.create_group
server_process.create_group = lambda limits: groups.append(make(limits)) or groups[-1]
with Sandbox(KIND, (), SMALL) as sandbox:
    replies = sandbox.run([Step(0, HOG), Step(1, "print('next')")], {})
print(replies[0].reason)
print(replies[1].text, end="")
print({str(folder.relative_to(top)).split("-")[0] for group in groups for folder in group.folders})
print([path.name for path in top.iterdir() if path.is_dir()])
"""


def _version_2_with(*controllers: str) -> Path | None:
    """Return a version 2 hierarchy that has controllers and that this account may change."""
    for root in (cgroups.ROOT, cgroups.ROOT / "unified"):
        file = root / "cgroup.controllers"
        if os.access(root, os.W_OK) and file.exists() and set(controllers) <= set(file.read_text().split()):
            return root
    return None


@pytest.mark.skipif(
    KIND == "none" or not _version_2_with("memory", "pids"),
    reason="no version 2 hierarchy with the memory controller that this account may change",
)
def test_version_2_group_beside_the_graders_own_limits_memory_and_is_removed():
    root = _version_2_with("memory", "pids")
    top = root / f"test-{os.getpid()}"
    (top / "job").mkdir(parents=True)
    (root / "cgroup.subtree_control").write_text("+memory +pids")
    try:
        done = subprocess.run(
            [sys.executable, "-c", IN_A_JOB, top], capture_output=True, text=True, cwd=COURSE
        )
    finally:
        (top / "job").rmdir()
        top.rmdir()
    expected = f"{TOO_MUCH_MEMORY}\nnext\n{{'grading'}}\n['job']\n"
    assert done.stdout == expected, done.stderr


@pytest.mark.skipif(not _version_2_with("hugetlb"), reason="no version 2 hierarchy to try")
def test_kernel_lets_a_grader_make_a_version_2_group_beside_its_own():
    top = _version_2_with("hugetlb") / f"test-{os.getpid()}"
    done = subprocess.run([sys.executable, "-c", BESIDE, top], capture_output=True, text=True, cwd=COURSE)
    assert done.stdout == "['grading']\n", done.stderr
    assert not top.exists()

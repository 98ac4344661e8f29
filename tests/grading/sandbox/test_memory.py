"""The memory of a whole submission is limited where no control group can do it, of whatever kind it is."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from grading.sandbox import fork_server, server_process
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends, limits, usage
from grading.sandbox.isolation.cgroups import Group
from grading.sandbox.isolation.limits import TOO_MANY_PROCESSES, TOO_MUCH_MEMORY, Limits
from grading.sandbox.steps import Step
from tests.grading.ordinary_user import missing, run_as_ordinary_user

KINDS = [kind for kind in backends.KINDS if backends.works(kind)]
LIMITS = Limits(cell_seconds=60, memory_mb=240, file_mb=64)
pytestmark = pytest.mark.skipif(not KINDS, reason="no sandbox works here")
WAIT = "\nimport time\ntime.sleep(50)"
# Each uses 300 MB in pieces that no other limit refuses.
HOGS = {
    "memory_files": """
import os
for n in range(6):
    os.write(os.memfd_create(str(n)), bytes(50 * 2**20))
""",
    "mapped_memory_files_without_descriptor": """
import mmap, os
kept = []
for n in range(6):
    file = os.memfd_create(str(n))
    os.ftruncate(file, 50 * 2**20)
    kept.append(mmap.mmap(file, 50 * 2**20))
    kept[-1].write(bytes(50 * 2**20))
    os.close(file)
""",
    "shared_mapping_filled_by_a_child_that_has_ended": """
import mmap, os
kept = mmap.mmap(-1, 300 * 2**20)
if os.fork() == 0:
    for n in range(300):
        kept.write(bytes(2**20))
    os._exit(0)
os.wait()
""",
    "many_processes": """
import os, time
for n in range(6):
    if os.fork() == 0:
        kept = b"x" * (50 * 2**20)
        time.sleep(20)
""",
    "files": """
for folder in ("/tmp", "/dev/shm"):
    open(folder + "/a", "wb").write(bytes(60 * 2**20))
    open(folder + "/b", "wb").write(bytes(3 * 2**20))
open("c", "wb").write(bytes(60 * 2**20))
kept = b"x" * (60 * 2**20)
""",
    "links": """
import os
for folder in ("/tmp", "/dev/shm", "."):
    for n in range(90_000):
        os.symlink(100 * "x", f"{folder}/{n}")
""",
    "sockets": """
import os, socket, time
for n in range(8):
    if os.fork() == 0:
        kept = [socket.socketpair() for _ in range(200)]
        for here, _ in kept:
            here.setblocking(False)
            try:
                while True:
                    here.send(bytes(2**15))
            except BlockingIOError:
                pass
        time.sleep(20)
""",
}
FAIR = """
import os, time
kept = b"x" * (100 * 2**20)
for n in range(6):
    if os.fork() == 0:
        time.sleep(0.6)
        os._exit(0)
for n in range(6):
    os.wait()
print("done")
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server_process, "create_group", lambda limits: Group())
        with Sandbox(KINDS[0], (), LIMITS) as sandbox:
            sandbox.run([Step(0, "1")], {})
            yield sandbox


@pytest.mark.parametrize("hog", HOGS)
def test_a_submission_with_too_much_memory_is_killed_with_the_reason(sandbox, hog):
    replies = sandbox.run([Step(0, HOGS[hog] + WAIT), Step(1, "print('next')")], {})
    assert (replies[0].outcome, replies[0].reason) == ("crashed", TOO_MUCH_MEMORY)
    assert replies[1].text == "next\n"


def test_memory_that_processes_share_counts_once(sandbox):
    reply = sandbox.run([Step(0, FAIR)], {})[0]
    assert (reply.outcome, reply.text) == ("done", "done\n")


def test_processes_are_counted_where_the_kernel_counts_those_of_the_account(monkeypatch):
    """Before Linux 5.14 its limit would be shared with all that the teacher runs, and is not used."""
    server = fork_server.ForkServer({"nested": True, "grouped": False}, None)
    server._child, server._limits = 7, LIMITS
    monkeypatch.setattr(fork_server, "processes_below", lambda pid: list(range(LIMITS.processes + 3)))
    assert server._excess() == TOO_MANY_PROCESSES
    releases = {"4.18.0-553.el8": False, "5.13.1": False, "5.14.0-70": True, "6.12+": True}
    for release, by_namespace in releases.items():
        uname = SimpleNamespace(sysname="Linux", release=release)
        monkeypatch.setattr(limits.os, "uname", lambda uname=uname: uname)
        assert limits.counts_processes_by_namespace() == by_namespace


def test_without_proc_nothing_is_known_of_the_processors(monkeypatch, tmp_path):
    """As on macOS, where `--sandbox none` runs."""
    monkeypatch.setattr(usage, "_PROC", tmp_path / "proc")
    assert usage.processes_below(7) == [7]
    assert usage.processor_seconds([7]) == (0, 0)


def test_unattached_system_v_memory_cannot_hold_much(sandbox):
    source = "import ctypes\nprint(ctypes.CDLL(None).shmget(1, 50 * 2**20, 0o1666))"
    assert sandbox.run([Step(0, source)], {})[0].text == "-1\n"


# In both backends, and without root.
CELLS = [hog + WAIT for hog in HOGS.values()]
RUN_HOGS = f"""
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.steps import Step
for kind in {KINDS}:
    with Sandbox(kind, (), {LIMITS!r}) as sandbox:
        replies = sandbox.run([Step(n, hog) for n, hog in enumerate({CELLS})], {{}})
        print([reply.reason for reply in replies.values()])
        print(sandbox.run([Step(0, {FAIR!r})], {{}})[0].text)
"""


@pytest.mark.proof
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_the_memory_of_an_ordinary_users_submissions_is_limited(tmp_path):
    done = run_as_ordinary_user(RUN_HOGS, tmp_path)
    expected = f"{[TOO_MUCH_MEMORY] * len(HOGS)}\ndone\n\n"
    assert done.stdout == expected * len(KINDS), done.stderr


def test_kill_of_an_earlier_submissions_child_is_not_the_next_ones_end(tmp_path):
    """The kernel counts kills of the whole control group."""
    kills = tmp_path / "memory.events"
    kills.write_text("oom_kill 0")
    with Sandbox(KINDS[0], ()) as sandbox:
        assert sandbox.run([Step(0, "print(1)")], {})[0].text == "1\n"
        own, sandbox._server._group = sandbox._server._group, Group([tmp_path])
        kills.write_text("oom_kill 1")
        [reply] = sandbox.run([Step(0, "import os\nos._exit(3)")], {}).values()
        sandbox._server._group = own
    assert "exit status 3" in reply.reason

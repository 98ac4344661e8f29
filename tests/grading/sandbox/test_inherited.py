"""A submission sees nothing that the teacher's session hands down to its processes."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.steps import Step
from tests.grading.ordinary_user import missing, run_as_ordinary_user

KINDS = [kind for kind in backends.KINDS if backends.works(kind)]
ROOT = Path(__file__).parents[3]

# What a process can tell about the session that it comes from, run as a cell of a submission.
REPORT = """
import ctypes, json, os, re, resource, signal, socket
libc = ctypes.CDLL(None, use_errno=True)
IOPRIO_GET, GET_MEMPOLICY, KEYCTL = {"x86_64": (252, 239, 250), "aarch64": (31, 236, 219)}[os.uname().machine]

def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError as error:
        return error.strerror

def find_key(keyring):
    return libc.syscall(KEYCTL, 10, keyring, b"user", b"teacher", 0)

fields = "^((?:Cap|Sig|Shd|Groups|Umask|NoNewPrivs|Seccomp|THP).*)$"
files = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
policy = ctypes.c_int(-1)
libc.syscall(GET_MEMPOLICY, ctypes.byref(policy), None, 0, None, 0)
print(json.dumps({
    "status": re.findall(fields, read("/proc/self/status"), re.M),
    "limits": {name: resource.getrlimit(getattr(resource, name)) for name in sorted(dir(resource))
               if name.startswith("RLIMIT_")},
    "environment": dict(os.environ),
    "descriptors": sorted(os.readlink(path).split(":")[0] for path in files if os.path.lexists(path)),
    "handlers": {s.name: repr(signal.getsignal(s)).split(" at ")[0] for s in signal.Signals},
    "nice": os.getpriority(os.PRIO_PROCESS, 0),
    "scheduler": [os.sched_getscheduler(0), os.sched_getparam(0).sched_priority],
    "disk priority": libc.syscall(IOPRIO_GET, 1, 0),
    "memory policy": policy.value,
    "timer slack": libc.prctl(30, 0, 0, 0, 0),
    "no huge pages": libc.prctl(42, 0, 0, 0, 0),
    "securebits": libc.prctl(27, 0, 0, 0, 0),
    "personality": libc.personality(0xffffffff),
    "out of memory": read("/proc/self/oom_score_adj"),
    "control groups": sorted(set(line.split(":", 2)[2] for line in read("/proc/self/cgroup").split())),
    "keys": [find_key(keyring) for keyring in (-1, -2, -3, -4, -5)],
    "key list": read("/proc/keys"),
    "terminal": read("/dev/tty"),
    "host": socket.gethostname(),
    "fuse": os.path.exists("/dev/fuse"),
    "working folder": os.getcwd(),
    "processes": [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()],
    "tracing init": libc.ptrace(16, 1, 0, 0),
    "reading init": [read(f"/proc/1/{name}") for name in ("mem", "environ", "maps", "fd/0", "root/usr")],
}))
"""

# A session that has all of these set; then it reports what a submission sees.
LOAD = """
import ctypes, os, resource, signal, sys
libc = ctypes.CDLL(None)
ADD_KEY = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
IOPRIO_SET, SET_MEMPOLICY = {"x86_64": (251, 238), "aarch64": (30, 237)}[os.uname().machine]
for keyring in (-3, -4):
    libc.syscall(ADD_KEY, b"user", b"teacher", b"secret", 6, keyring)
os.environ["TEACHERS_TOKEN"] = "secret"
os.set_inheritable(os.open("/etc/passwd", os.O_RDONLY), True)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGINT, signal.SIGUSR1):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM, signal.SIGCHLD})
os.umask(0)
resource.setrlimit(resource.RLIMIT_STACK, (2**22, 2**26))
resource.setrlimit(resource.RLIMIT_MSGQUEUE, (1000, 819200))
resource.setrlimit(resource.RLIMIT_AS, (2**40, resource.getrlimit(resource.RLIMIT_AS)[1]))
libc.prctl(29, 7_000_000, 0, 0, 0)
libc.prctl(41, 1, 0, 0, 0)
libc.personality(0x0040000)
libc.syscall(IOPRIO_SET, 1, 0, (2 << 13) | 6)
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
try:
    resource.setrlimit(resource.RLIMIT_NICE, (40, 40))
    resource.setrlimit(resource.RLIMIT_RTPRIO, (99, 99))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY,) * 2)
    open("/proc/self/oom_score_adj", "w").write("-500")
except (ValueError, OSError):
    pass  # without CAP_SYS_RESOURCE
if os.geteuid() == 0:
    os.setgroups([4242])
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    libc.prctl(28, 1 << 4, 0, 0, 0)
    libc.syscall(SET_MEMPOLICY, 2, ctypes.byref(ctypes.c_ulong(1)), 64)
"""
START = f"""
from grading.sandbox.client import Sandbox
from grading.sandbox.steps import Step
for kind in sys.argv[1:] or {KINDS}:
    with Sandbox(kind, ()) as sandbox:
        print(sandbox.run([Step(0, {REPORT!r})], {{}})[0].text)
"""


def reports(output: str) -> list[dict]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def plain() -> list[dict]:
    """What a submission sees that is started from this session, by backend."""
    found = []
    for kind in KINDS:
        with Sandbox(kind, ()) as sandbox:
            found += reports(sandbox.run([Step(0, REPORT)], {})[0].text)
    return found


@pytest.mark.skipif(not KINDS, reason="no sandbox works here")
def test_nothing_of_a_loaded_session_is_seen(plain):
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            ["setsid", "--ctty", sys.executable, "-c", LOAD + START],
            cwd="/", stdin=theirs, capture_output=True, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    finally:
        os.close(ours)
        os.close(theirs)
    assert reports(done.stdout) == plain, done.stderr


@pytest.mark.skipif(not KINDS, reason="no sandbox works here")
def test_a_submission_starts_with_nothing(plain):
    assert_nothing(plain)


def assert_nothing(reports: list[dict]) -> None:
    for seen in reports:
        assert seen["keys"] == [-1] * 5
        assert (seen["key list"], seen["fuse"], seen["host"]) == ("", False, "sandbox")
        assert seen["terminal"] in ("No such device or address", "No such file or directory")
        assert seen["control groups"] == ["/"]
        assert (seen["processes"], seen["tracing init"]) == (["1"], -1)
        assert set(seen["reading init"]) == {"Permission denied"}
        assert (seen["nice"], seen["scheduler"], seen["out of memory"]) == (0, [0, 0], "1000\n")
        assert set(seen["descriptors"]) <= {"/dev/null", "/memfd", "socket", "/proc/2/fd"}


@pytest.mark.proof
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_nothing_of_an_ordinary_users_session_is_seen(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    plain = run_as_ordinary_user("import sys\n" + START, tmp_path / "a")
    loaded = run_as_ordinary_user(LOAD + START, tmp_path / "b")
    assert len(reports(plain.stdout)) == len(KINDS), plain.stderr
    assert_nothing(reports(plain.stdout))
    assert reports(loaded.stdout) == reports(plain.stdout), loaded.stderr

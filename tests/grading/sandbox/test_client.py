"""Isolation of submissions from each other, crashes, and what the sandbox shows; without nbgrader."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.server_process import GraderFaultError
from grading.sandbox.steps import Step

KINDS = [kind for kind in backends.KINDS if backends.works(kind)]
LIMITS = Limits(cell_seconds=20, exercise_seconds=60, file_mb=16)
SHOW_STATE = """
import os, subprocess

def is_mounted(place):  # a clone of the course in /tmp
    return any(line.split()[4].startswith(place + "/") for line in open("/proc/self/mountinfo"))

for folder in ("/tmp", "/dev/shm", os.path.expanduser("~")):
    print(folder, sorted(name for name in os.listdir(folder) if not is_mounted(f"{folder}/{name}")))
print("processes", len([name for name in os.listdir("/proc") if name.isdigit()]))
print("segments", len(open("/proc/sysvipc/shm").readlines()) - 1, len(open("/proc/sysvipc/msg").readlines()) - 1)
print("memory", "MARK" in globals(), hasattr(os, "MARK"))
"""
CLEAN_STATE = """/tmp []
/dev/shm []
/home/student []
processes 2
segments 0 0
memory False False
"""
TRACES = {
    "files": "for folder in ('/tmp', '/dev/shm', '.'):\n    open(f'{folder}/mark', 'w').write('x')",
    "folders": "import os\nfor folder in ('/', '/dev', '/home', '/var/tmp', '/etc', '/usr'):\n    try:\n"
    "        os.mkdir(f'{folder}/mark')\n        print('created', folder)\n    except OSError:\n        pass",
    "processes": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n"
    "    os._exit(0)",
    "kernel objects": "import ctypes\nlibc = ctypes.CDLL(None)\n"
    "assert -1 not in (libc.shmget(7, 4096, 0o1666), libc.msgget(7, 0o1666))",
    "memory": "import os, builtins\nMARK = os.MARK = builtins.MARK = True",
}


@pytest.fixture(scope="module", params=KINDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(request.param, ("numpy",), LIMITS) as sandbox:
        yield sandbox


@pytest.mark.parametrize("trace", TRACES)
def test_submission_leaves_no_trace_for_the_next(sandbox, trace):
    reply = sandbox.run([Step(0, TRACES[trace])], {})[0]
    assert (reply.error, "created" in reply.text) == ("", False)
    assert sandbox.run([Step(0, SHOW_STATE)], {})[0].text == CLEAN_STATE


# Keyrings by system calls: `add` and `find` a key of the session, in the grader's process and in submissions.
KEYS = """
import ctypes, os
libc, (add_key, keyctl) = ctypes.CDLL(None), {"x86_64": (248, 250), "aarch64": (217, 219)}[os.uname().machine]
SESSION, SEARCH, UNLINK = -3, 10, 9

def add(name):
    return libc.syscall(add_key, b"user", name, b"secret", 6, SESSION)

def find(name):
    return libc.syscall(keyctl, SEARCH, SESSION, b"user", name, 0)
"""


def test_submission_has_a_session_keyring_of_its_own(sandbox):
    """Neither the teacher's keys nor those of another submission are found."""
    here: dict = {}
    exec(KEYS, here)
    if (key := here["add"](b"teacher")) < 0:
        pytest.skip("this machine has no keyrings")
    try:
        assert here["find"](b"teacher") == key
        ask = "print(find(b'teacher'), find(b'student') != -1, add(b'student') != -1)"
        for _ in range(2):
            reply = sandbox.run([Step(0, KEYS + ask)], {})[0]
            assert (reply.text, reply.error) == ("-1 False True\n", "")
    finally:
        here["libc"].syscall(here["keyctl"], here["UNLINK"], key, here["SESSION"])


def test_crash_costs_only_its_own_cell(sandbox):
    steps = [Step(0, "x = 1"), Step(1, "import os\nos._exit(1)"), Step(2, "print(x)")]
    replies = sandbox.run(steps, {})
    assert [replies[number].outcome for number in range(3)] == ["done", "crashed", "done"]
    assert replies[2].text == "1\n"


@pytest.mark.parametrize("statement", ["stdout.close()", "stdout = None", "stderr = 3"])
def test_stream_that_a_cell_leaves_unusable_costs_no_later_cell(sandbox, statement):
    steps = [Step(0, f"import sys\nsys.{statement}"), Step(1, "answer = 42"), Step(2, "assert answer == 42")]
    replies = sandbox.run(steps, {})
    assert [(reply.outcome, reply.error) for reply in replies.values()] == [("done", "")] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_readable_folder_in_tmp_is_read_only(kind, tmp_path):
    (tmp_path / "data.txt").write_text("data")
    tmp_path.chmod(0o755)
    code = f"print(open('{tmp_path}/data.txt').read())\nopen('{tmp_path}/mark', 'w')"
    with Sandbox(kind, (), LIMITS, readable=[tmp_path]) as sandbox:
        reply = sandbox.run([Step(0, code)], {})[0]
    assert reply.text.startswith("data\n")
    assert "Read-only file system" in reply.text


LIST = "import os\nprint(sorted(os.listdir({!r})))"
GRADING = backends.GRADING


def test_of_the_grader_only_the_sandbox_room_is_visible(sandbox):
    sources = [
        LIST.format(str(GRADING)),
        "import grading.scoring",
        "import grading.sandbox.client",
        "from course_utils.data import packed_images",
    ]
    listed, hidden, visible, lesson = sandbox.run([Step(*pair) for pair in enumerate(sources)], {}).values()
    assert eval(listed.text) == ["__init__.py", "sandbox"]
    assert hidden.error == "ModuleNotFoundError: No module named 'grading.scoring'"
    assert (visible.error, lesson.error) == ("", "")


def test_model_that_answers_an_exercise_is_withheld(sandbox):
    sources = [
        "from course_utils.pipeline import Pipeline, StageTimes, simulate, tuning_steps",
        "simulate(Pipeline(), StageTimes(), 3)",
        "import course_utils.pipeline.event_model",
        LIST.format(str(GRADING.parent / "course_utils/pipeline")),
    ]
    replies = sandbox.run([Step(*pair) for pair in enumerate(sources)], {}).values()
    imported, simulated, direct, listed = replies
    assert imported.error == ""
    assert "asks for your own rule" in simulated.error
    assert "No module named" in direct.error
    assert not {"event_model.py", "__pycache__"} & set(eval(listed.text))


@pytest.mark.parametrize(("folder", "modules"), backends.withheld().items())
def test_modules_that_answer_an_exercise_are_withheld(sandbox, folder, modules):
    room = GRADING.parent / "course_utils" / folder
    assert modules <= {path.name for path in room.iterdir()}
    package = f"course_utils.{folder.replace('/', '.')}"
    sources = [f"import {package}.{Path(name).stem}" for name in sorted(modules)]
    *direct, listed = sandbox.run(
        [Step(*pair) for pair in enumerate([*sources, LIST.format(str(room))])], {}
    ).values()
    assert all("No module named" in one.error for one in direct)
    assert not {*modules, "__pycache__"} & set(eval(listed.text))


@pytest.mark.parametrize("kind", KINDS)
def test_grader_in_site_packages_is_hidden(kind, tmp_path, monkeypatch):
    site = tmp_path / "env" / "site-packages"
    for name in (
        "course_utils",
        "grading/scoring",
        "grading/sandbox",
        "data_setup/create",
        "numpy",
    ):
        (site / name).mkdir(parents=True)
    (site / "grading" / "__init__.py").touch()
    tmp_path.chmod(0o755)
    monkeypatch.setattr(backends, "GRADING", site / "grading")
    folders = [site, site / "data_setup", site / "grading"]
    with Sandbox(kind, (), LIMITS, readable=[tmp_path / "env"]) as sandbox:
        replies = sandbox.run(
            [Step(number, LIST.format(str(folder))) for number, folder in enumerate(folders)], {}
        )
    listed = [eval(reply.text) for reply in replies.values()]
    assert listed == [["course_utils", "data_setup", "grading", "numpy"], [], ["__init__.py", "sandbox"]]


def test_submission_has_no_privileges(sandbox):
    lines = sandbox.run([Step(0, "!grep -h ^Cap /proc/self/status; grep NoNewPrivs /proc/self/status")], {})[
        0
    ].text
    values = [line.split()[1] for line in lines.split("\n") if line]
    assert values == ["0" * 16] * 5 + ["1"]


def test_submitted_files_are_writable(sandbox):
    reply = sandbox.run(
        [Step(0, "open('a/b.txt', 'a').write('!')\nprint(open('a/b.txt').read())")], {"a/b.txt": b"hi"}
    )[0]
    assert reply.text.endswith("hi!\n")


def test_environment_and_network_are_isolated(sandbox):
    text = sandbox.run(
        [Step(0, "import os\nprint(sorted(os.environ))\n!cat /proc/net/dev | tail -n +3 | cut -d: -f1")], {}
    )[0].text
    assert "COURSE" not in text
    assert text.split()[-1] == "lo"


def test_pictures_and_text_are_returned(sandbox):
    source = (
        "import matplotlib.pyplot as plt\n%matplotlib inline\nplt.plot([1, 2])\nplt.show()\nprint('drawn')"
    )
    reply = sandbox.run([Step(0, source)], {})[0]
    assert reply.text.endswith("drawn\n")
    assert reply.pictures[0].startswith(b"\x89PNG")


def test_fork_server_imports_only_what_it_is_told(sandbox):
    """torch costs seconds at each start of a sandbox, and hundreds of megabytes."""
    assert sandbox.run([Step(0, "import sys\nprint('torch' in sys.modules)")], {})[0].text == "False\n"


def test_choose_refuses_without_a_working_backend(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(backends, "works", lambda kind: False)
    with pytest.raises(backends.NoSandboxError, match="--sandbox none"):
        backends.choose()
    assert backends.choose("none") == "none"


def test_failing_start_of_a_sandbox_is_a_grader_fault():
    with (
        Sandbox("none", ("no_such_module",), LIMITS) as sandbox,
        pytest.raises(GraderFaultError, match="no_such_module"),
    ):
        sandbox.run([Step(0, "1")], {})


def test_bubblewrap_of_the_system_comes_first_and_one_that_cannot_start_is_passed_over(monkeypatch):
    found = backends.programs()
    monkeypatch.setattr(backends, "programs", lambda: ["/bin/false", *found])
    assert backends.bubblewrap.__wrapped__() == (found or [None])[0]
    monkeypatch.setattr(backends, "programs", lambda: ["/bin/false"])
    assert backends.bubblewrap.__wrapped__() is None


@pytest.mark.parametrize("wanted", ["apptainer", "bwarp", "namespaces"])
def test_unknown_backend_is_refused_with_the_known_ones(wanted):
    with pytest.raises(backends.NoSandboxError, match="choose auto, bwrap"):
        backends.choose(wanted)

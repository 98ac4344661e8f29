"""What a submission leaves behind, and what happens when it dies: seen on one sandbox, without nbgrader."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from course_utils.grading.sandbox import backends
from course_utils.grading.sandbox.client import GraderFaultError, Sandbox, Step
from course_utils.grading.sandbox.limits import Limits

KINDS = [kind for kind in ("bwrap", "namespaces") if backends.works(kind)]
LIMITS = Limits(cell_seconds=20, total_seconds=60, file_mb=16)
LOOK = """
import os, subprocess

def is_given(place):  # a clone of the course in /tmp
    return any(line.split()[4].startswith(place + "/") for line in open("/proc/self/mountinfo"))

for folder in ("/tmp", "/dev/shm", os.path.expanduser("~")):
    print(folder, sorted(name for name in os.listdir(folder) if not is_given(f"{folder}/{name}")))
print("processes", len([name for name in os.listdir("/proc") if name.isdigit()]))
print("segments", len(open("/proc/sysvipc/shm").readlines()) - 1, len(open("/proc/sysvipc/msg").readlines()) - 1)
print("memory", "MARK" in globals(), hasattr(os, "MARK"))
"""
CLEAN = """/tmp []
/dev/shm []
/home/student []
processes 2
segments 0 0
memory False False
"""
TRACES = {
    "files": "for folder in ('/tmp', '/dev/shm', '.'):\n    open(f'{folder}/mark', 'w').write('x')",
    "folders everywhere": "import os\nfor folder in ('/', '/dev', '/home', '/var/tmp', '/etc', '/usr'):\n    try:\n"
    "        os.mkdir(f'{folder}/mark')\n        print('made', folder)\n    except OSError:\n        pass",
    "processes": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n"
    "    os._exit(0)",
    "objects of the kernel": "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.shmget(7, 4096, 0o1666)\nlibc.msgget(7, 0o1666)",
    "memory": "import os, builtins\nMARK = os.MARK = builtins.MARK = True",
}


@pytest.fixture(scope="module", params=KINDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(request.param, ("numpy",), LIMITS) as sandbox:
        yield sandbox


@pytest.mark.parametrize("trace", TRACES)
def test_a_submission_leaves_no_trace_for_the_next(sandbox, trace):
    mess = sandbox.run([Step(0, TRACES[trace])], {})[0]
    assert (mess.error, "made" in mess.text) == ("", False)
    assert sandbox.run([Step(0, LOOK)], {})[0].text == CLEAN


def test_a_death_costs_one_cell_and_no_other(sandbox):
    steps = [Step(0, "x = 1"), Step(1, "import os\nos._exit(1)"), Step(2, "print(x)")]
    replies = sandbox.run(steps, {})
    assert [replies[number].outcome for number in range(3)] == ["done", "crashed", "done"]
    assert replies[2].text == "1\n"


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_in_a_temporary_folder_can_be_read_and_not_changed(kind, tmp_path):
    (tmp_path / "given.txt").write_text("given")
    tmp_path.chmod(0o755)
    code = f"print(open('{tmp_path}/given.txt').read())\nopen('{tmp_path}/mark', 'w')"
    with Sandbox(kind, (), LIMITS, readable=[tmp_path]) as sandbox:
        reply = sandbox.run([Step(0, code)], {})[0]
    assert reply.text.startswith("given\n")
    assert "Read-only file system" in reply.text


LIST = "import os\nprint(sorted(os.listdir({!r})))"
GRADING = Path(backends.__file__).parents[1]


def test_only_the_sandbox_room_of_the_grader_is_visible(sandbox):
    sources = [
        LIST.format(str(GRADING)),
        "import course_utils.grading.scoring",
        "import course_utils.grading.sandbox.client",
        "from course_utils.data import packed_images",
    ]
    listed, hidden, visible, lesson = sandbox.run([Step(*pair) for pair in enumerate(sources)], {}).values()
    assert eval(listed.text) == ["__init__.py", "__init__.pyi", "sandbox"]
    assert hidden.error == "ModuleNotFoundError: No module named 'course_utils.grading.scoring'"
    assert (visible.error, lesson.error) == ("", "")


@pytest.mark.parametrize("kind", KINDS)
def test_an_installed_grader_is_hidden_too(kind, tmp_path, monkeypatch):
    site = tmp_path / "env" / "site-packages"
    for name in (
        "course_utils/grading/scoring",
        "course_utils/grading/sandbox",
        "data_setup/create",
        "numpy",
    ):
        (site / name).mkdir(parents=True)
    (site / "course_utils" / "grading" / "__init__.py").touch()
    tmp_path.chmod(0o755)
    monkeypatch.setattr(backends, "GRADING", site / "course_utils" / "grading")
    folders = [site, site / "data_setup", site / "course_utils" / "grading"]
    with Sandbox(kind, (), LIMITS, readable=[tmp_path / "env"]) as sandbox:
        replies = sandbox.run(
            [Step(number, LIST.format(str(folder))) for number, folder in enumerate(folders)], {}
        )
    listed = [eval(reply.text) for reply in replies.values()]
    assert listed == [["course_utils", "data_setup", "numpy"], [], ["__init__.py", "sandbox"]]


def test_no_privilege_is_left(sandbox):
    lines = sandbox.run([Step(0, "!grep -h ^Cap /proc/self/status; grep NoNewPrivs /proc/self/status")], {})[
        0
    ].text
    values = [line.split()[1] for line in lines.split("\n") if line]
    assert values == ["0" * 16] * 5 + ["1"]


def test_files_arrive_and_may_be_changed(sandbox):
    reply = sandbox.run(
        [Step(0, "open('a/b.txt', 'a').write('!')\nprint(open('a/b.txt').read())")], {"a/b.txt": b"hi"}
    )[0]
    assert reply.text == "Out[0]: 1\nhi!\n" or reply.text.endswith("hi!\n")


def test_environment_and_network_are_empty(sandbox):
    text = sandbox.run(
        [Step(0, "import os\nprint(sorted(os.environ))\n!cat /proc/net/dev | tail -n +3 | cut -d: -f1")], {}
    )[0].text
    assert "COURSE" not in text
    assert text.split()[-1] == "lo"


def test_pictures_and_text_come_back(sandbox):
    source = (
        "import matplotlib.pyplot as plt\n%matplotlib inline\nplt.plot([1, 2])\nplt.show()\nprint('drawn')"
    )
    reply = sandbox.run([Step(0, source)], {})[0]
    assert reply.text.endswith("drawn\n")
    assert reply.pictures[0].startswith(b"\x89PNG")


def test_without_any_means_grading_refuses_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(backends, "works", lambda kind: False)
    with pytest.raises(backends.NoSandboxError, match="--sandbox none"):
        backends.choose()
    assert backends.choose("none") == "none"


def test_a_sandbox_that_does_not_start_is_the_graders_fault():
    with (
        Sandbox("none", ("no_such_module",), LIMITS) as sandbox,
        pytest.raises(GraderFaultError, match="no_such_module"),
    ):
        sandbox.run([Step(0, "1")], {})


def test_apptainer_shuts_in_with_no_network_home_or_environment():
    command = backends.sandbox_command("apptainer", ["/bin/true"], [Path("/data")])
    assert {"--containall", "--cleanenv", "--no-home"} <= set(command)
    assert command[command.index("--network") + 1] == "none"
    assert "/data:/data:ro" in command

"""Submissions that try to read secrets, and print what they find."""

from pathlib import Path

from tests.grading.attacks.attack import ALL_POINTS, Attack, code
from tests.grading.toy_course import LESSON

SEARCH = """
import os
def search(*roots, most=20000):
    for root in roots:
        for parent, folders, files in os.walk(root):
            folders[:] = [name for name in folders if name not in ('site-packages', 'usr', 'proc', 'sys', 'lib', 'dev')]
            for name in files:
                if name.endswith(('.JPEG', '.png', '.zip')):
                    continue  # the course's data
                path = os.path.join(parent, name)
                try:
                    text = open(path, 'rb').read(10**6)
                except OSError:
                    continue
                if b'SEC' b'RET_OF_THE_TEACHER' in text:
                    print(path, text[text.index(b'SEC' b'RET_OF_THE_TEACHER') - 100:][:300])
"""
PROC = """
import os
for pid in filter(str.isdigit, os.listdir('/proc')):
    for name in ('environ', 'cmdline', 'maps', 'status'):
        try:
            print(pid, name, [word for word in open(f'/proc/{pid}/{name}', 'rb').read().split(b'\\0') if b'SEC' b'RET_OF_THE_TEACHER' in word])
        except OSError as error:
            print(pid, error)
"""
OTHERS = """
import os
others = [pid for pid in os.listdir('/proc') if pid.isdigit() and pid != str(os.getpid())]
assert others
for pid in others:
"""
# All that a submission sees but installed packages, which would take longer than a cell may on a cold disk.
FIND = r"find / \( -path /proc -o -path /sys -o -path /usr -o -name site-packages \) -prune -o"
TRUTH = """
def total_of(numbers):
    import gc
    for thing in gc.get_objects():
        if isinstance(thing, dict) and 'sum' in thing and 'largest' in thing:
            return thing['sum']
    return 0
"""
STACK = """
def total_of(numbers):
    import inspect
    for frame in inspect.stack():
        for value in frame.frame.f_locals.values():
            if isinstance(value, dict) and 'sum' in value:
                return value['sum']
    return 0
"""


def _link(name, target):
    def folder(path: Path):
        (path / name).symlink_to(target(path))

    return folder


def _course(path: Path) -> Path:
    return path.parents[2]


def _linked_notebook(path: Path):
    (path / f"{LESSON}.ipynb").unlink()
    (path / f"{LESSON}.ipynb").symlink_to(_course(path) / "solutions" / LESSON / f"{LESSON}.ipynb")


PRINT = "\nimport pathlib\nfor path in pathlib.Path().rglob('*'):\n    print(path, path.read_bytes()[:500])"

ATTACKS = {
    "read_all_files": code(SEARCH + "search('/')"),
    "read_upwards": code(SEARCH + "search('..', '../..', '../../..')"),
    "read_homes": code(SEARCH + "search('/root', '/home', os.path.expanduser('~'))"),
    "read_environment": code("import os\nprint(dict(os.environ))"),
    "read_processes": code(PROC),
    "read_memory_of_others": code(
        OTHERS + "    try:\n        open(f'/proc/{pid}/mem', 'rb')\n        print('TRACE memory of', pid)\n"
        "    except OSError as error:\n        print(error)"
    ),
    "read_root_of_others": code(
        OTHERS + "    for name in ('root', 'cwd', 'fd'):\n        try:\n"
        "            print('TRACE', pid, name, os.listdir(f'/proc/{pid}/{name}/'))\n"
        "        except OSError as error:\n            print(error)"
    ),
    "read_gradebook": code(
        "import os\n" rf"""os.system(r'{FIND} \( -name "*.db" -o -name marks \) -print 2>/dev/null')""",
    ),
    "read_solutions": code(
        "import os\n" rf"""os.system(r'{FIND} -name "*arithmetic*ipynb" -print 2>/dev/null')"""
    ),
    "read_repository": code(
        "import os\n" rf"os.system(r'git -C / log; {FIND} -name .git -print 2>/dev/null')"
    ),
    "read_history": code("print(In, Out, _ih, get_ipython().history_manager)"),
    "read_kernel_log": code("import os\nos.system('dmesg; cat /dev/kmsg /proc/kcore | head -c 100')"),
    "truth_by_garbage_collector": Attack(TRUTH),
    "truth_by_stack": Attack(STACK),
    "truth_by_seed": code(
        "import numpy as np\nguess = int(np.random.default_rng(0).integers(1, 10**9, 20).sum())\n"
        "def total_of(numbers):\n    return guess"
    ),
    "trace_the_parent": code(
        "import ctypes, os\nif ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0:\n    print('TRACE attached')"
    ),
    "mount_again": code(
        "import os\nos.system('mount -o remount,rw / && echo TRACE; mount -t tmpfs x /usr && echo TRACE; unshare -r id')"
    ),
    "network": code(
        "import socket\nfor host, port in (('1.1.1.1', 53), ('127.0.0.1', 22), ('169.254.169.254', 80)):\n    try:\n"
        "        print('SEC' 'RET_OF_THE_TEACHER reached', socket.create_connection((host, port), 1))\n    except OSError as error:\n"
        "        print(error)"
    ),
    "link_to_solutions": Attack(
        "def total_of(numbers):\n    return 0" + PRINT,
        folder=_link("peek", lambda path: _course(path) / "solutions"),
        statuses=("tampered",),
    ),
    "link_to_gradebook": Attack(
        "def total_of(numbers):\n    return 0" + PRINT,
        folder=_link("peek.db", lambda path: _course(path) / "gradebook.db"),
        statuses=("tampered",),
    ),
    "link_to_another_submission": Attack(
        "def total_of(numbers):\n    return 0" + PRINT,
        folder=_link("peek.ipynb", lambda path: path.parents[1] / "victim" / LESSON / f"{LESSON}.ipynb"),
        statuses=("tampered",),
    ),
    "link_as_notebook": Attack(folder=_linked_notebook, points=0, statuses=("tampered",)),
    "link_to_nothing": Attack(
        folder=_link("nothing", lambda path: "/does/not/exist"), statuses=("tampered",)
    ),
    "link_to_itself": Attack(folder=_link("self", lambda path: path), statuses=("tampered",)),
    "honest_reader_of_a_lesson_file": Attack(
        "print(open('lesson_file.txt').read())\ndef total_of(numbers):\n    return sum(numbers)",
        points=ALL_POINTS,
        statuses=("right",),
    ),
}

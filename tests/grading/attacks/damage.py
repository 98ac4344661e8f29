"""Submissions that try to break the grader, or to leave a trace for the next one."""

from tests.grading.attacks.attack import ALL_POINTS, Attack, code

RIGHT = "\ndef total_of(numbers):\n    return sum(numbers)"
CRASHED = ("crashed",)
TIMED_OUT = ("timed out",)


def then_right(text: str, points: float = ALL_POINTS, *statuses: str) -> Attack:
    """Return an answer that does damage, then is right: honest points are kept."""
    return Attack(text + RIGHT, points=points, statuses=statuses or ("right",))


def in_probe(text: str, *statuses: str) -> Attack:
    """Return an answer that does damage when the check calls it."""
    body = "\n".join(f"    {line}" for line in text.splitlines())
    return Attack(f"import os\ndef total_of(numbers):\n{body}\n    return 0", statuses=statuses or CRASHED)


SWALLOWING_LOOP = (
    "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
)
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3):
            os.close(number)
        while True:
            try:
                open('/tmp/TRACE', 'a').write('x')
            except OSError:
                pass
            time.sleep(0.01)
    os._exit(0)
"""
FILL = """
try:
    with open('{path}/fill', 'wb') as file:
        while True:
            file.write(bytes(2**20))
except OSError as error:
    print('stopped:', error)
"""
SYSV = """
import ctypes
libc = ctypes.CDLL(None)
print('segment', libc.shmget(0x5EC2E7, 4096, 0o1666))
print('queue', libc.msgget(0x5EC2E7, 0o1666))
"""

ATTACKS = {
    "exit": code("import os\nos._exit(0)", *CRASHED),
    "exit_with_status": code("import sys\nsys.exit(3)", error="SystemExit"),
    "quit": code("quit()", error="AttributeError"),
    "abort": code("import os\nos.abort()", *CRASHED),
    "segfault": code("import ctypes\nctypes.string_at(0)", *CRASHED),
    "segfault_in_the_probe": in_probe("import ctypes\nctypes.string_at(0)"),
    "kill_itself": code("import os\nos.kill(os.getpid(), 9)", *CRASHED),
    "kill_everything": code("import os\nos.kill(-1, 9)", "crashed", "wrong", error="ProcessLookupError"),
    "kill_the_parent": then_right(
        "import os\nfor pid in (1, os.getppid()):\n    try:\n        os.kill(pid, 9)\n"
        "    except OSError as error:\n        print(error)"
    ),
    "interrupt_the_parent": then_right(
        "import os\nfor sign in (2, 15):\n    try:\n        os.kill(1, sign)\n"
        "    except OSError as error:\n        print(error)"
    ),
    "stop_itself": code("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", *TIMED_OUT),
    "loop_that_swallows_interrupts": code(SWALLOWING_LOOP, *TIMED_OUT),
    "loop_in_the_probe": in_probe("while True:\n    pass", *TIMED_OUT),
    "sleep_without_end": in_probe("import time\ntime.sleep(10**6)", *TIMED_OUT),
    "deep_recursion": code(
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return f(x + 1)\nf(0)",
        "crashed",
        "wrong",
        "timed out",
    ),
    "memory": code(
        "hog = []\nwhile True:\n    hog.append(bytearray(2**24))\n    hog[-1][::4096] = bytes(4096)",
        "crashed",
        "wrong",
        "timed out",
    ),
    "memory_in_many_processes": code(
        "import os\nfor _ in range(8):\n    if os.fork() == 0:\n        hog = []\n        while True:\n"
        "            hog.append(bytearray(b'x' * 2**24))\nwhile True:\n    pass",
        "crashed",
        "timed out",
    ),
    "fork_bomb": code(
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        "crashed",
        "timed out",
    ),
    "thread_bomb": code(
        "import threading, time\ntry:\n    while True:\n        threading.Thread(target=time.sleep, args=(99,), daemon=True)"
        ".start()\nexcept RuntimeError as error:\n    print(error)",
        "wrong",
        "crashed",
    ),
    "fill_tmp": then_right(FILL.format(path="/tmp")),
    "fill_shared_memory": then_right(FILL.format(path="/dev/shm")),
    "fill_home": then_right(FILL.format(path=".")),
    "fill_with_empty_files": then_right(
        "try:\n    for number in range(10**6):\n        open(f'/tmp/{number}', 'w').close()\n"
        "except OSError as error:\n    print(error)"
    ),
    "one_huge_file": then_right(
        "try:\n    open('/tmp/huge', 'wb').truncate(2**40)\nexcept OSError as error:\n    print(error)"
    ),
    "all_descriptors": then_right(
        "import os\nkept = []\ntry:\n    while True:\n        kept.append(os.open('/dev/null', 0))\n"
        "except OSError as error:\n    print(error)\nfor number in kept:\n    os.close(number)"
    ),
    "output_flood": then_right("for number in range(200000):\n    print('x' * 100)"),
    "endless_output": code(
        "while True:\n    print('x' * 10**6)", *TIMED_OUT, "wrong", "crashed", error="OSError"
    ),
    "output_of_a_child": then_right("import os\nos.system('yes | head -c 30000000')"),
    "background_process": then_right(DAEMON),
    "background_thread": then_right(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(10**6,)).start()"
    ),
    "orphan_that_keeps_the_socket": code(
        "import os, time\nif os.fork() == 0:\n    time.sleep(10**6)\nos._exit(0)", *CRASHED
    ),
    "remove_everything": then_right(
        "import os\nos.system('rm -rf ~ /tmp/* /dev/shm/* /etc /usr/bin /home 2>/dev/null')"
    ),
    "write_into_the_environment": then_right(
        "import os, sys\nfor folder in [*filter(None, sys.path), '/usr', '/', '/etc', '/home']:\n    try:\n"
        "        open(os.path.join(folder, 'TRACE.py'), 'w')\n        print('TRACE written in', folder)\n"
        "    except OSError:\n        pass"
    ),
    "kernel_objects": then_right(SYSV),
    "start_up_files": then_right(
        "import os\nfor name in ('.bashrc', '.ipython/profile_default/startup/00.py', '.pythonrc', 'sitecustomize.py',"
        " 'usercustomize.py', '.config/matplotlib/matplotlibrc'):\n    path = os.path.expanduser(f'~/{name}')\n"
        "    os.makedirs(os.path.dirname(path), exist_ok=True)\n    open(path, 'w').write('print(\"TRACE\")')"
    ),
    "raise_the_limits": then_right(
        "import resource\nfor kind in (resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE):\n    try:\n"
        "        resource.setrlimit(kind, (-1, -1))\n        print('TRACE raised')\n"
        "    except (ValueError, OSError) as error:\n        print(error)"
    ),
    "message_longer_than_allowed": code(
        "import socket, time\nfor number in range(3, 64):\n    try:\n        channel = socket.socket(fileno=number)\n"
        "        channel.getpeername()\n        break\n    except OSError:\n        pass\n"
        "channel.sendall((2**30).to_bytes(8, 'little'))",
        *CRASHED,
        points=4,
    ),
    "message_never_completed": code(
        "import socket, time\nfor number in range(3, 64):\n    try:\n        channel = socket.socket(fileno=number)\n"
        "        channel.getpeername()\n        break\n    except OSError:\n        pass\n"
        "channel.sendall((2**20).to_bytes(8, 'little'))\ntime.sleep(10**6)",
        *TIMED_OUT,
        points=4,
    ),
    "closed_socket": code("import os\nos.closerange(3, 64)", *CRASHED, points=4),
    "signal_handlers": then_right(
        "import signal\nfor number in (1, 2, 15):\n    signal.signal(number, signal.SIG_IGN)"
    ),
    "alarm": then_right("import signal\nsignal.alarm(10**6)"),
}

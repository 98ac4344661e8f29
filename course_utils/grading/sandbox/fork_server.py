"""The fork server in the sandbox: imports once, then forks each submission into namespaces of its own.

It runs no code of a student. A forked submission gets a process tree, IPC objects, /tmp, /dev/shm and home
of its own, an unprivileged user, and one socket. Started by `sandbox.py`, never by hand.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from course_utils.checks.core import evidence
from course_utils.grading.sandbox import namespaces
from course_utils.grading.sandbox.limits import Limits, apply_limits
from course_utils.grading.sandbox.protocol import Channel, ClosedError
from course_utils.grading.sandbox.watched_folder import GivenFolder
from course_utils.grading.sandbox.worker import answer_steps, make_shell

HOME = "/home/student"
PRIVATE = ("/tmp", "/dev/shm", HOME)


def serve(control: socket.socket, orders: dict[str, Any]) -> None:
    """Answers the grader's orders until it hangs up.

    Args:
        control: Socket to the grader.
        orders: `path` and `modules` to import first, `nested` (submissions get namespaces of their own),
            `users` (there are other users to become), `grouped` (a control group limits memory).
    """
    sys.path[:0] = orders["path"]
    for module in orders["modules"]:
        importlib.import_module(module)
    shell = make_shell()
    namespaces.adopt_orphans()
    child = 0
    given: list[GivenFolder] = []
    control.send(b"ready")
    while True:
        message, descriptors, *_ = socket.recv_fds(control, 65536, 1)
        if not message:
            return
        order = json.loads(message)
        if order["do"] == "run":
            child = os.fork()
            if child == 0:
                control.close()
                _leave(_submission, Channel(socket.socket(fileno=descriptors[0])), shell, orders, order)
            os.close(descriptors[0])
        elif order["do"] == "give":
            control.send(_give(given, f"/proc/{child}/root{order['folder']}", descriptors[0]))
        elif order["do"] == "opened":
            control.send(json.dumps(given[-1].opened()).encode())
        else:
            while given:
                given.pop().close()
            control.send(str(_end(child)).encode())


def _give(given: list[GivenFolder], place: str, file: int) -> bytes:
    """Lays out the files of a check in the file system that only the submission sees."""
    try:
        with os.fdopen(file, "rb") as message:
            given.append(GivenFolder(Path(place), evidence.decode(message.read())))
        return b"given"
    except OSError as error:  # a student may have filled the disk
        return str(error).encode()


def _leave(function: Any, *arguments: Any) -> None:  # noqa: ANN401 - a forked child's only way out
    code = 1
    try:
        function(*arguments)
        code = 0
    except ClosedError:
        code = 0
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def _end(child: int) -> int:
    """Kills a submission and waits until all that it started is gone: this process inherits its orphans."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    status = 0
    while True:
        for pid in {child, *map(int, children.read_text().split())}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            ended, code = os.wait()
        except ChildProcessError:
            return status
        status = code if ended == child else status


def _submission(channel: Channel, shell: Any, orders: dict, order: dict) -> None:  # noqa: ANN401
    """The forked child: makes the namespaces; its own child is their first process."""
    namespaces.die_with_parent()
    if not orders["nested"]:
        _student(channel, shell, orders, order)
        return
    if not orders["users"]:
        namespaces.enter_user_namespace()
    namespaces.unshare(namespaces.CLONE_NEWNS | namespaces.CLONE_NEWPID | namespaces.CLONE_NEWIPC)
    first = os.fork()
    if first == 0:
        _leave(_first_process, channel, shell, orders, order)
    channel.close()
    _, status = os.waitpid(first, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _first_process(channel: Channel, shell: Any, orders: dict, order: dict) -> None:  # noqa: ANN401
    """When this process ends, the kernel ends all that the submission started."""
    namespaces.die_with_parent()
    limits = Limits(**order["limits"])
    namespaces.private_mounts()
    for target in PRIVATE:
        namespaces.private_tmpfs_around_mounts(target, limits.file_mb)
    namespaces.mount("proc", "/proc", "proc", 14)
    namespaces.freeze_mounts(PRIVATE)
    student = os.fork()
    if student == 0:
        _leave(_student, channel, shell, orders, order)
    channel.close()
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == student:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _student(channel: Channel, shell: Any, orders: dict, order: dict) -> None:  # noqa: ANN401
    """The process that the student's code runs in."""
    namespaces.die_with_parent()
    os.setsid()
    for descriptor in sorted(int(entry.name) for entry in Path("/proc/self/fd").iterdir()):
        if descriptor > 2 and descriptor != channel.sock.fileno():
            with contextlib.suppress(OSError):
                os.close(descriptor)
    limits = Limits(**order["limits"])
    Path("/proc/self/oom_score_adj").write_text("1000")
    namespaces.drop_privileges(order["user"] if orders["users"] and orders["nested"] else None)
    apply_limits(limits, address_space=not orders["grouped"])
    os.umask(0o077)
    _write_files(Path(HOME), channel.receive()["files"])
    os.chdir(HOME)
    sys.path.append("")  # a module that the student writes is found, and shadows none
    channel.send({"ready": True})
    answer_steps(channel, shell)


def _write_files(home: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def main() -> None:
    """Serves the socket whose number is the first argument; the second is JSON."""
    serve(socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2]))


if __name__ == "__main__":
    main()

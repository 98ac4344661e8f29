"""The fork server in the sandbox: imports modules once, then forks each submission into its own namespaces.

It runs no student code. A forked submission has its own process tree, IPC objects, /tmp, /dev/shm and home,
an unprivileged user, and one socket. `client.Sandbox` starts it.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from IPython.core.interactiveshell import InteractiveShell

from course_utils.checks.core import evidence
from course_utils.grading.sandbox.isolation import Limits, apply_limits, namespaces
from course_utils.grading.sandbox.protocol import (
    Channel,
    ClosedError,
    ControlMessage,
    Files,
    Ready,
    Setup,
)
from course_utils.grading.sandbox.watched_folder import WatchedFolder
from course_utils.grading.sandbox.worker import make_shell, serve_steps

HOME = "/home/student"
PRIVATE = ("/tmp", "/dev/shm", HOME)


def serve(control: socket.socket, setup: Setup) -> None:
    """Serve the client's control messages until it closes the socket.

    Args:
        control: Socket to the client.
        setup: How submissions run.
    """
    sys.path[:0] = setup["path"]
    for module in setup["modules"]:
        importlib.import_module(module)
    shell = make_shell()
    namespaces.adopt_orphans()
    child = 0
    watched: list[WatchedFolder] = []
    control.send(b"ready")
    while True:
        data, descriptors, *_ = socket.recv_fds(control, 65536, 1)
        if not data:
            return
        message: ControlMessage = json.loads(data)
        if message["action"] == "run":
            child = os.fork()
            if child == 0:
                control.close()
                channel = Channel(socket.socket(fileno=descriptors[0]))
                _run_and_exit(_submission_process, channel, shell, setup, message)
            os.close(descriptors[0])
        elif message["action"] == "place_files":
            control.send(_place_files(watched, f"/proc/{child}/root{message['folder']}", descriptors[0]))
        elif message["action"] == "open_socket":
            _open_socket(control, f"/proc/{child}/root{message['address']}")
        elif message["action"] == "count_openings":
            control.send(json.dumps(watched[-1].opened()).encode())
        else:
            while watched:
                watched.pop().close()
            control.send(str(_kill_submission(child)).encode())


def _place_files(watched: list[WatchedFolder], place: str, descriptor: int) -> bytes:
    """Write the files of a check into the file system that only the submission sees."""
    try:
        with os.fdopen(descriptor, "rb") as file:
            watched.append(WatchedFolder(Path(place), evidence.decode(file.read())))
        return b"placed"
    except OSError as error:  # a student may have filled the disk
        return str(error).encode()


def _open_socket(control: socket.socket, address: str) -> None:
    """Listen on a Unix socket that only the submission sees, and hand it to the client."""
    before = os.umask(0)  # a submission is another user, and must be able to connect
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(address)
            listener.listen()
            socket.send_fds(control, [b"listening"], [listener.fileno()])
    except OSError as error:  # a student may have filled the disk
        control.send(str(error).encode())
    finally:
        os.umask(before)


def _run_and_exit(function: Callable[..., None], *arguments: Any) -> NoReturn:  # noqa: ANN401 - passed on
    """Run a function as all that a forked child does."""
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


def _kill_submission(child: int) -> int:
    """Kill a submission, reap all its processes (their orphans come here) and return its status."""
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


def _submission_process(
    channel: Channel, shell: InteractiveShell, setup: Setup, message: ControlMessage
) -> None:
    """Make the namespaces, then fork their init process."""
    namespaces.set_parent_death_signal()
    if not setup["nested"]:
        _student_process(channel, shell, setup, message)
        return
    if not setup["users"]:
        namespaces.enter_user_namespace()
    namespaces.unshare(namespaces.CLONE_NEWNS | namespaces.CLONE_NEWPID | namespaces.CLONE_NEWIPC)
    first = os.fork()
    if first == 0:
        _run_and_exit(_init_process, channel, shell, setup, message)
    channel.close()
    _, status = os.waitpid(first, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _init_process(channel: Channel, shell: InteractiveShell, setup: Setup, message: ControlMessage) -> None:
    """Prepare the mounts, then fork the student's process; as init, its end ends the whole submission."""
    namespaces.set_parent_death_signal()
    limits = Limits(**message["limits"])
    namespaces.private_mounts()
    for target in PRIVATE:
        namespaces.private_tmpfs_around_mounts(target, limits.file_mb)
    namespaces.mount(
        "proc", "/proc", "proc", namespaces.MS_NOSUID | namespaces.MS_NODEV | namespaces.MS_NOEXEC
    )
    namespaces.freeze_mounts(PRIVATE)
    student = os.fork()
    if student == 0:
        _run_and_exit(_student_process, channel, shell, setup, message)
    channel.close()
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == student:
            os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _student_process(
    channel: Channel, shell: InteractiveShell, setup: Setup, message: ControlMessage
) -> None:
    """Give up privileges, receive the files and serve steps."""
    namespaces.set_parent_death_signal()
    os.setsid()
    for descriptor in sorted(int(entry.name) for entry in Path("/proc/self/fd").iterdir()):
        if descriptor > 2 and descriptor != channel.sock.fileno():
            with contextlib.suppress(OSError):
                os.close(descriptor)
    namespaces.join_new_session_keyring()
    limits = Limits(**message["limits"])
    Path("/proc/self/oom_score_adj").write_text("1000")
    namespaces.drop_privileges(message["user"] if setup["users"] and setup["nested"] else None)
    apply_limits(limits, address_space=not setup["grouped"])
    os.umask(0o077)
    _write_files(Path(HOME), channel.receive(Files).files)
    os.chdir(HOME)
    sys.path.append("")  # last: a student's module can be imported, but shadows none
    channel.send(Ready())
    serve_steps(channel, shell)


def _write_files(home: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def main() -> None:
    """Serve the socket whose number is the first argument, with the `Setup` in the second."""
    serve(socket.socket(fileno=int(sys.argv[1])), json.loads(sys.argv[2]))


if __name__ == "__main__":
    main()

"""The processes of one submission, forked from the fork server into namespaces of their own.

A submission has its own process tree, IPC objects, /tmp, /dev/shm and home, an unprivileged user, and one
socket. Without a sandbox it has only the limits and the socket.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from IPython.core.interactiveshell import InteractiveShell

from grading.sandbox.isolation import namespaces
from grading.sandbox.isolation.call_filter import install_call_filter
from grading.sandbox.isolation.inherited import join_new_session_keyring
from grading.sandbox.isolation.limits import Limits, apply_limits, counts_processes_by_namespace
from grading.sandbox.protocol import (
    HOME,
    SIGNALED,
    Channel,
    ClosedError,
    ControlMessage,
    Files,
    Ready,
    Setup,
)
from grading.sandbox.worker import serve_steps

PRIVATE = ("/tmp", "/dev/shm", HOME)
SYSTEM_V_PAGES = 4096  # of System V shared memory, which no process needs to hold
HIDDEN = ("/proc/keys", "/proc/key-users")  # they list keys of all processes of this account


def run_submission(
    channel: Channel,
    shell: InteractiveShell,
    setup: Setup,
    message: ControlMessage,
) -> NoReturn:
    """Run a submission as all that this forked process does.

    Args:
        channel: Its connection to the client.
        shell: The shell in which its cells run.
        setup: How submissions run.
        message: The client's request.
    """
    _run_and_exit(_outer_process, channel, shell, setup, message)


def _outer_process(
    channel: Channel,
    shell: InteractiveShell,
    setup: Setup,
    message: ControlMessage,
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
    _exit_like(os.waitpid(first, 0)[1])


def _init_process(
    channel: Channel,
    shell: InteractiveShell,
    setup: Setup,
    message: ControlMessage,
) -> None:
    """Prepare the mounts, then fork the student's process; as init, its end ends the whole submission."""
    namespaces.set_parent_death_signal()
    limits = Limits(**message["limits"])
    namespaces.private_mounts()
    for target in PRIVATE:
        namespaces.private_tmpfs_around_mounts(target, limits.file_mb)
    namespaces.mount(
        "proc", "/proc", "proc", namespaces.MS_NOSUID | namespaces.MS_NODEV | namespaces.MS_NOEXEC
    )
    with contextlib.suppress(OSError):  # an old kernel lets only the host's root
        Path("/proc/sys/kernel/shmall").write_text(str(SYSTEM_V_PAGES))
    with contextlib.suppress(OSError):  # so that an answer that depends on it differs in a second process
        Path("/proc/sys/kernel/ns_last_pid").write_text(str(100 + secrets.randbelow(30_000)))
    for name in HIDDEN:
        if Path(name).exists():
            namespaces.mount("/dev/null", name, "", namespaces.MS_BIND)
    namespaces.freeze_mounts(PRIVATE)
    student = os.fork()
    if student == 0:
        _run_and_exit(_student_process, channel, shell, setup, message)
    channel.close()
    namespaces.forbid_tracing()
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == student:
            _exit_like(status)


def _student_process(
    channel: Channel, shell: InteractiveShell, setup: Setup, message: ControlMessage
) -> None:
    """Give up privileges, receive the files and serve steps."""
    namespaces.set_parent_death_signal()
    os.setsid()
    _close_descriptors(channel)
    if setup["nested"]:
        join_new_session_keyring()
        Path("/proc/self/oom_score_adj").write_text("1000")
        namespaces.drop_privileges(message["user"] if setup["users"] else None)
        namespaces.show_own_use()
        install_call_filter()
    limits, home = Limits(**message["limits"]), Path(message["home"])
    own_count = setup["nested"] and (setup["users"] or counts_processes_by_namespace())
    apply_limits(limits, address_space=not setup["grouped"], processes=own_count)
    os.umask(0o077)
    os.environ["HOME"] = str(home)
    _write_files(home, channel.receive(Files).files)
    os.chdir(home)
    sys.path.append("")  # last: a student's module can be imported, but shadows none
    channel.send(Ready())
    serve_steps(channel, shell)


def _close_descriptors(channel: Channel) -> None:
    """Close whatever this process has inherited but the channel and the standard streams."""
    for descriptor in sorted(int(entry.name) for entry in Path("/dev/fd").iterdir()):
        if descriptor > 2 and descriptor != channel.sock.fileno():
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _write_files(home: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _exit_like(status: int) -> NoReturn:
    """End this process as its child has ended."""
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else SIGNALED - code)


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

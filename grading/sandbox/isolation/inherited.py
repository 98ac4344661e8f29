"""What a session hands down to its processes, reset: a submission sees nothing of the teacher's.

Namespaces, the environment, descriptors and the terminal are the business of `backends` and
`submission_process`. A lower priority than usual (`nice`, `SCHED_IDLE`) stays where this account may not
raise it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import signal

_libc = ctypes.CDLL(None, use_errno=True)
_CALLS = {
    "x86_64": {"keyctl": 250, "ioprio_set": 251, "set_mempolicy": 238},
    "aarch64": {"keyctl": 219, "ioprio_set": 30, "set_mempolicy": 237},
}
_PR_SET_SECUREBITS, _PR_SET_TIMERSLACK, _PR_SET_THP_DISABLE = 28, 29, 41
# No privileges by being root, none kept on becoming a user, none ambient; each locked.
_SECUREBITS = 0b11100011
_SLACK_NS = 50_000
# What `Limits` does not set, as most systems have it: (soft, hard).
_LIMITS = {
    "RLIMIT_AS": (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
    "RLIMIT_DATA": (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
    "RLIMIT_MEMLOCK": (2**23, 2**23),
    "RLIMIT_MSGQUEUE": (819_200, 819_200),
    "RLIMIT_NICE": (0, 0),
    "RLIMIT_RSS": (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
    "RLIMIT_RTPRIO": (0, 0),
    "RLIMIT_RTTIME": (resource.RLIM_INFINITY, resource.RLIM_INFINITY),
    "RLIMIT_SIGPENDING": (1024, 1024),
    "RLIMIT_STACK": (2**23, 2**23),
}


def reset_inherited() -> None:
    """Reset what this process has inherited, as far as it may; before it gives up its privileges."""
    _reset_signals()
    _reset_scheduling()
    _reset_limits()
    _libc.prctl(_PR_SET_SECUREBITS, _SECUREBITS, 0, 0, 0)
    _libc.prctl(_PR_SET_TIMERSLACK, _SLACK_NS, 0, 0, 0)
    _libc.prctl(_PR_SET_THP_DISABLE, 0, 0, 0, 0)
    _libc.personality(0)


def join_new_session_keyring() -> None:
    """Replace the session keyring, which a login hands down with its keys, by an empty one.

    Raises:
        OSError: The kernel has keyrings but refuses a new one.
    """
    join_session_keyring = 1
    if _call("keyctl", join_session_keyring, None) < 0:
        code = ctypes.get_errno()
        if code not in (errno.ENOSYS, errno.EPERM):  # no keyrings here, for a submission neither
            raise OSError(code, f"keyctl: {os.strerror(code)}")


def _reset_signals() -> None:
    """Handle each signal as a new Python does, and block none."""
    kept = {signal.SIGPIPE, signal.SIGXFSZ}  # Python ignores these
    for number in signal.valid_signals() - kept - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError, ValueError):  # the C library's own
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _reset_scheduling() -> None:
    """Leave real-time and raised priorities, of processor and disk, and the memory of one node."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    this_process = 1
    _call("ioprio_set", this_process, 0, 0)
    _call("set_mempolicy", 0, None, 0)


def _reset_limits() -> None:
    for name, (soft, hard) in _LIMITS.items():
        kind = getattr(resource, name)
        _, most = resource.getrlimit(kind)
        for limits in ((soft, hard), (_least(soft, most), _least(hard, most))):
            with contextlib.suppress(ValueError, OSError):  # raising needs a privilege
                resource.setrlimit(kind, limits)
                break


def _least(value: int, most: int) -> int:
    finite = [one for one in (value, most) if one != resource.RLIM_INFINITY]
    return min(finite, default=resource.RLIM_INFINITY)


def _call(name: str, *arguments: int | None) -> int:
    result: int = _libc.syscall(_CALLS[os.uname().machine][name], *arguments)
    return result

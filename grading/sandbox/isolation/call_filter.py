"""A filter of system calls (seccomp) for submissions: what they ask for and do not get.

`sched_setaffinity` succeeds without effect: a submission stays on the cores of its job (`scoring.local`), so
that its neighbours keep theirs. So does `prctl(PR_SET_DUMPABLE)`, which would hide a process from those who
count its memory. `io_uring_setup`, which would pass this filter, and secret memory (`memfd_secret`), which
`usage` cannot see, are not implemented here, and programs use plain calls and memory. A new user namespace is
not permitted: in it, a submission could mount file systems that nobody counts.
`clone3`, whose flags a filter cannot read, is not implemented; the C library then uses `clone`. Calls of
other instruction sets (32-bit) fail, as they would pass the filter.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from typing import NamedTuple

from grading.sandbox.isolation.namespaces import CLONE_NEWUSER


class _Machine(NamedTuple):
    """Its AUDIT_ARCH_*, the first number beyond the native calls, and the numbers of calls."""

    architecture: int
    foreign: int
    set_affinity: int
    prctl: int
    clone: int
    unshare: int


_NOT_IMPLEMENTED = (425, 435, 447)  # io_uring_setup, clone3, memfd_secret: the same numbers everywhere
_MACHINES = {
    "x86_64": _Machine(0xC000003E, 0x40000000, 203, 157, 56, 272),
    "aarch64": _Machine(0xC00000B7, 0x40000000, 122, 167, 220, 97),
}
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # BPF instructions
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_libc = ctypes.CDLL(None, use_errno=True)
_Instruction = tuple[int, int, int, int]  # code, how many to skip if true, if false, and its value


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def install_call_filter() -> None:
    """Filter the system calls of this process and its descendants from now on; needs no_new_privs.

    Raises:
        OSError: The kernel refuses the filter.
    """
    machine = _MACHINES[os.uname().machine]
    load_filter(
        [
            *_answer(_AT_LEAST, machine.foreign, errno.ENOSYS),
            *_answer(_EQUAL, machine.set_affinity, 0),
            *(part for number in _NOT_IMPLEMENTED for part in _answer(_EQUAL, number, errno.ENOSYS)),
            *_answer_if(machine.prctl, _EQUAL, _PR_SET_DUMPABLE, 0),
            *_answer_if(machine.unshare, _ANY_BIT, CLONE_NEWUSER, errno.EPERM),
            *_answer_if(machine.clone, _ANY_BIT, CLONE_NEWUSER, errno.EPERM),
        ]
    )


def load_filter(answers: list[_Instruction]) -> None:
    """Answer system calls from now on as these instructions say, and let all others of this machine pass.

    Raises:
        OSError: The kernel refuses the filter.
    """
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _MACHINES[os.uname().machine].architecture),
        _fail(errno.ENOSYS),
        (_LOAD, 0, 0, _NUMBER),
        *answers,
        (_RETURN, 0, 0, _ALLOW),
    ]
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    loaded = _Program(len(program), code)
    if _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(loaded), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")


def _fail(error: int) -> _Instruction:
    """Let the call return without being made: with an error, or with 0 as if it had succeeded."""
    return _RETURN, 0, 0, _ERROR | error


def _answer(comparison: int, number: int, error: int) -> list[_Instruction]:
    """Do not make the calls whose number compares so."""
    return [(comparison, 0, 1, number), _fail(error)]


def _answer_if(number: int, comparison: int, argument: int, error: int) -> list[_Instruction]:
    """Do not make a call whose first argument compares so."""
    return [
        (_EQUAL, 0, 4, number),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (comparison, 0, 1, argument),
        _fail(error),
        (_RETURN, 0, 0, _ALLOW),
    ]

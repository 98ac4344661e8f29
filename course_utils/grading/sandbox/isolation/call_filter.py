"""A filter of system calls (seccomp) for submissions: what they ask for and do not get.

`sched_setaffinity` succeeds without effect: a submission stays on the cores of its job (`scoring.local`), so
that its neighbours keep theirs. Calls of other instruction sets (32-bit) fail, as they would pass the filter.
"""

from __future__ import annotations

import ctypes
import os
import struct

# AUDIT_ARCH_*, the first number beyond the native calls, and sched_setaffinity.
_MACHINES = {"x86_64": (0xC000003E, 0x40000000, 203), "aarch64": (0xC00000B7, 0x40000000, 122)}
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF instructions
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_ENOSYS = 38
_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def install_call_filter() -> None:
    """Filter the system calls of this process and its descendants from now on; needs no_new_privs.

    Raises:
        OSError: The kernel refuses the filter.
    """
    architecture, foreign, set_affinity = _MACHINES[os.uname().machine]
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 4, architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 2, 0, foreign),
        (_EQUAL, 2, 0, set_affinity),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
        (_RETURN, 0, 0, _ERROR),
    ]
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    loaded = _Program(len(program), code)
    if _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(loaded), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")

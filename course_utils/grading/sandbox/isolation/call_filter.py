"""A filter of system calls (seccomp) for submissions: what they ask for and do not get.

`sched_setaffinity` succeeds without effect: a submission stays on the cores of its job (`scoring.local`), so
that its neighbours keep theirs. So does `prctl(PR_SET_DUMPABLE)`, which would hide a process from the file
server. Calls that read files in other ways than by a read of the calling thread (`sendfile`, `splice`,
`copy_file_range`, `io_uring_setup`) are not implemented here, and programs use plain reads. Calls of other
instruction sets (32-bit) fail, as they would pass the filter.
"""

from __future__ import annotations

import ctypes
import os
import struct
from typing import NamedTuple


class _Machine(NamedTuple):
    """Its AUDIT_ARCH_*, the first number beyond the native calls, and the numbers of calls."""

    architecture: int
    foreign: int
    set_affinity: int
    prctl: int
    not_implemented: tuple[int, ...]  # sendfile, splice, copy_file_range, io_uring_setup


_MACHINES = {
    "x86_64": _Machine(0xC000003E, 0x40000000, 203, 157, (40, 275, 326, 425)),
    "aarch64": _Machine(0xC00000B7, 0x40000000, 122, 167, (71, 76, 285, 425)),
}
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF instructions
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
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
    machine = _MACHINES[os.uname().machine]
    refused = machine.not_implemented
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 0, 7 + len(refused), machine.architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 5 + len(refused), 0, machine.foreign),
        (_EQUAL, 5 + len(refused), 0, machine.set_affinity),
        *((_EQUAL, 3 + len(refused) - place, 0, number) for place, number in enumerate(refused)),
        (_EQUAL, 0, 2, machine.prctl),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 2, 0, _PR_SET_DUMPABLE),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ERROR | _ENOSYS),
        (_RETURN, 0, 0, _ERROR),
    ]
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
    loaded = _Program(len(program), code)
    if _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(loaded), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"seccomp: {os.strerror(number)}")

"""Take system calls away from a process and its descendants, as an older kernel or a container does."""

import ctypes
import errno

from grading.sandbox.isolation import call_filter, inherited
from grading.sandbox.isolation.namespaces import CLONE_NEWUSER

HERE = call_filter.os.uname().machine
NUMBERS = call_filter._MACHINES[HERE]
ANY, EQUAL, ANY_BIT = None, call_filter._EQUAL, call_filter._ANY_BIT
# The first call that came after a kernel (all machines count alike from 424 on), and one that none has yet.
AFTER_4_18, AFTER_5_14, LAST = 424, 448, 480
# The calls by what a machine lacks: number, comparison of the first argument, its value, and the error.
CALLS = {
    "user namespaces": [
        (NUMBERS.clone, ANY_BIT, CLONE_NEWUSER, errno.EPERM),
        (NUMBERS.unshare, ANY_BIT, CLONE_NEWUSER, errno.EPERM),
    ],
    "namespaces inside namespaces": [(NUMBERS.unshare, ANY, 0, errno.ENOSPC)],
    "seccomp": [(NUMBERS.prctl, EQUAL, call_filter._PR_SET_SECCOMP, errno.EINVAL)],
    "pidfd_getfd": [(438, ANY, 0, errno.ENOSYS)],
    "keyrings": [(inherited._CALLS[HERE]["keyctl"], ANY, 0, errno.ENOSYS)],
    "calls after Linux 4.18": [(number, ANY, 0, errno.ENOSYS) for number in range(AFTER_4_18, LAST)],
    "calls after Linux 5.14": [(number, ANY, 0, errno.ENOSYS) for number in range(AFTER_5_14, LAST)],
}


def deny(missing: str) -> None:
    """Let this process and its descendants do without something, a key of `CALLS`, from now on."""
    no_new_privileges = 38
    ctypes.CDLL(None).prctl(no_new_privileges, 1, 0, 0, 0)
    instructions = []
    for number, comparison, argument, error in CALLS[missing]:
        if comparison is ANY:
            instructions += call_filter._answer(EQUAL, number, error)
        else:
            instructions += call_filter._answer_if(number, comparison, argument, error)
    call_filter.load_filter(instructions)

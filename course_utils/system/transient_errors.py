"""Retry reads whose errors may pass: those of a disk or a file server that does not answer."""

import errno
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

# Errors of a disk or a server that may pass, and how long to wait before each retry, in seconds.
TRANSIENT = frozenset(
    {errno.EIO, errno.ESTALE, errno.EAGAIN, errno.ETIMEDOUT, errno.ENOTCONN}
    | ({errno.EREMOTEIO} if hasattr(errno, "EREMOTEIO") else set())
)
PAUSES = (0.05, 0.2, 1.0)


def retry_transient(read: Callable[[], Result], before_retry: Callable[[], object] | None = None) -> Result:
    """Return what `read` returns; call it again, after a pause, where it fails with an error that may pass.

    Args:
        read: May be called several times.
        before_retry: Called before each repetition, for example to open a file anew after ESTALE.

    Raises:
        OSError: The last error, after all retries, or one that does not pass.
    """
    for pause in PAUSES:
        try:
            return read()
        except OSError as error:
            if error.errno not in TRANSIENT:
                raise
        time.sleep(pause)
        if before_retry:
            before_retry()
    return read()

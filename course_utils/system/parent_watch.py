"""Make worker processes exit when their parent has ended, even if it was killed."""

import multiprocessing
import os
import threading


def die_with_parent() -> None:
    """Start a thread that ends this process as soon as the process that started it has ended.

    A killed parent cannot stop its workers, which would wait for work forever. PR_SET_PDEATHSIG would watch
    the process that forked this one, which may be a fork server that is still alive.
    """
    threading.Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)

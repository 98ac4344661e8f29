"""Worker processes that do not outlive the process they work for, however that one ends."""

import multiprocessing
import os
import threading


def die_with_parent() -> None:
    """End this process as soon as the one that started it by `multiprocessing` has ended; returns at once.

    A killed parent cannot tell its workers, and they would wait for work for ever. The kernel's own means
    (PR_SET_PDEATHSIG) watches the process that forked, which may be a fork server that nobody has killed.
    """
    threading.Thread(target=_wait_and_die, daemon=True).start()


def _wait_and_die() -> None:
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
